// Predicts a file's rows with any model file, as svm-predict does: for fastsvm-predict, and for `fastsvm predict` with
// options that both have.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/line_blocks.h"
#include "engine/predictor.h"
#include "engine/run.h"
#include "models/kind.h"
#include "program/options.h"

namespace fastsvm {

// Writes a line, with ? for control characters; ignores failed writes.
void say(int descriptor, const std::string& line);

// An error in a line of a file, or in the whole file (line 0).
struct LineError : std::runtime_error {
    enum File { data, model };
    LineError(File file, const std::string& path, std::int64_t line, const std::string& why);
    File file;
    std::string path, why;
    std::int64_t line;
};

// Reads the words of `fastsvm predict`. Returns none if Python must do the work instead: for other options, for a
// progress bar, or if Python could not read the model file again.
std::optional<Options> read_shared_options(const std::vector<std::string>& words);

// Throws FileError if a file that predictions are to replace is a model.
void refuse_model_output(const std::string& path);

// One run: construct it, then call prepare() and run(). The options must outlive it.
class Prediction {
public:
    // Reads a compressed file from its open descriptor, which it owns, and the bytes already read.
    using Decompress = std::function<ByteStream(const std::string& path, int descriptor, const std::string& begun)>;

    // Checks the output, and reads the model. decompress: reads compressed rows instead of the core's own gzip. Throws
    // LineError and FileError.
    explicit Prediction(const Options& options, Decompress decompress = nullptr);
    // Whether prepare() warns of the model file.
    bool has_notes() const { return !loaded_.notes.empty(); }
    // Checks the options, and reads the file of --exact. Throws UsageError, LineError, FileError and
    // std::runtime_error.
    void prepare();
    // Throws std::runtime_error if the file of --exact is not the model's source.
    void check_exact() const;
    // Prints messages and writes lines. Throws LineError, FileError and ReaderGone, and check_exact's.
    void run();

private:
    std::shared_ptr<Fallback> fallback();
    RunCounts predict_rows();
    void warn_and_tell(const RunCounts& run_counts) const;
    void tell(const std::string& line) const;
    void warn(const std::string& line) const;

    const Options& options_;
    const Decompress decompress_;
    LoadedModel loaded_;
    std::optional<Predictor> predictor_;
    std::string exact_fingerprint_;
    ScaledEntries scaled_;
    int report_ = 1;
};

}  // namespace fastsvm

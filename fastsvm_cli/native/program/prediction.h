// Predicts a file's rows with any model file: for fastsvm-predict, `fastsvm predict` and predict_file.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/answers.h"
#include "engine/line_blocks.h"
#include "engine/run.h"
#include "models/kind.h"
#include "program/exact_file.h"
#include "program/request.h"

namespace fastsvm {

// Writes a line, with ? for control characters; ignores failed writes.
void say(int descriptor, const std::string& line);

bool is_terminal(int descriptor);

// Whether a regular file starts like a model. surely: its first word must be one that only a model begins with.
bool is_model_file(const std::string& path, bool surely = false);

// Throws FileError if a file that predictions are to replace is a model.
void refuse_model_output(const std::string& path);

// One run: construct it, then call prepare(), begin(), run() or answer(), and end().
class Prediction {
public:
    // Reads a compressed file from its open descriptor, which it owns, and the bytes already read.
    using Decompress = std::function<ByteStream(const std::string& path, int descriptor, const std::string& begun)>;
    using Say = std::function<void(const std::string&)>;

    using Contents = std::map<std::string, std::string>;

    // decompress: reads compressed files instead of the core's own gzip. contents: of files that are read already, by
    // path.
    explicit Prediction(Request request, Decompress decompress = nullptr, Contents contents = {});
    // With models that are read already. first_index: of dense rows. warn: receives warnings. All other messages are
    // left out, and document() tells the counts.
    Prediction(Request request, std::shared_ptr<ModelFile> file, std::string fingerprint, std::int32_t first_index,
               std::shared_ptr<Fallback> exact, Say warn);

    // Checks the files and the options, and reads the files but the rows. Throws UsageError, LineError and FileError.
    void prepare();
    // Prints the notes that precede the first row. Throws FileError if there are no rows, and LineError for another
    // exact model, if that is known already.
    void begin();
    // Answers the rows into the output files, in constant memory. Throws LineError, FileError and ReaderGone.
    void run();
    // The same, from any source into any outputs. head: whether to write the lines before the first row.
    void answer(ByteStream stream, Outputs outputs, bool head = true);
    // The number of values of a stream's first valid dense row, as in Position.
    std::int64_t fields(ByteStream stream) const;
    // Prints warnings and the summary. Returns the exit code: 3 beyond --max-disagreement.
    int end();
    // The summary as one line of JSON.
    std::string document() const;

    // The same run over another part of the rows, with its own counts. seed: of its audit.
    std::unique_ptr<Prediction> of_part(const std::string& name, std::uint64_t seed) const;

    // Name and value of each option that the lines depend on.
    std::vector<std::pair<std::string, std::string>> made_with() const;

    const Request request;

    std::size_t block_size = block_bytes;  // of the text that a thread takes at a time, at most
    // Counts of the rows so far. A resumed run starts from those of the previous one.
    RunCounts run_counts;
    Position position;
    ScaledEntries scaled;
    std::optional<BadRows> bad_rows;

private:
    std::string read_text(const std::string& path) const;
    Reading reading() const;
    void check_files() const;
    void read_scaling();
    void load();
    void check_options();
    LineError unfit(const std::string& why) const;  // of the model file
    bool stops_within() const;                      // --tolerance lets an ordered model's rows stop early
    void resolve(std::shared_ptr<Audit> sample);
    std::shared_ptr<Fallback> fallback();
    std::shared_ptr<Audit> audit();
    Fallback::Load exact_loader();
    std::vector<std::string> row_warnings() const;
    std::optional<double> most_disagreement() const;
    void tell(const std::string& line) const;  // a line of the summary
    void note(const std::string& line) const;
    void warn(const std::string& warning) const;

    const OpenFile open_;
    const Say warn_;
    const bool with_models_ = false;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    LoadedModel loaded_;
    std::shared_ptr<Model> model_;     // loaded_'s, or one that stops early
    std::shared_ptr<Fallback> exact_;  // of the caller or of --exact
    std::string fingerprint_;
    std::shared_ptr<const Scaling> scaling_;
    std::string scaling_name_, scaling_digest_;
    std::shared_ptr<ExactFile> exact_file_;
    std::optional<Predictor> predictor_;
    std::int64_t rows_before_ = 0;  // of a previous run
    int report_ = 1;
    std::optional<std::int32_t> first_index_;
    bool silent_ = false;  // does not name bad rows
};

}  // namespace fastsvm

// Predicts a file's rows with any model file, for fastsvm-predict, `fastsvm predict` and predict_file: the run, the
// file of --exact, and errors of data and model files.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/answers.h"
#include "engine/header.h"
#include "engine/line_blocks.h"
#include "engine/run.h"
#include "files/source.h"
#include "models/kind.h"
#include "program/request.h"

namespace fastsvm {

// An error in a line of a file, or in the whole file (line 0).
struct LineError : std::runtime_error {
    enum File { data, model };
    LineError(File file, const std::string& path, std::int64_t line, const std::string& why)
        : std::runtime_error(display(path) + (line ? ":" + std::to_string(line) : "") + ": " + why),
          file(file),
          path(path),
          why(why),
          line(line) {}
    File file;
    std::string path, why;
    std::int64_t line;
    bool rows = false;  // the file has rows of data instead of a model
};

// Calls work(); its ModelError becomes a LineError of this file.
template <class Work> auto of_model(const std::string& path, Work work) {
    try {
        return work();
    } catch (const ModelError& error) {
        LineError found(LineError::model, path, error.line, error.what());
        found.rows = dynamic_cast<const DataFileError*>(&error) != nullptr;
        throw found;
    }
}

// Opens a file's content. Throws FileError.
using OpenFile = std::function<ByteStream(const std::string& path)>;

// Reads the content of a model file. Throws FileError, and LineError if its start is not a model's.
std::string read_model_file(const std::string& path, const OpenFile& open);

// The file of --exact. The fingerprint of a large one is computed while the model and rows are read. Thread-safe. Its
// members throw what reading throws, and LineError for another model than the expected one.
class ExactFile {
public:
    // Reads a small file; begins to read another on a thread, which nobody waits for at the end. Throws FileError
    // without such a file.
    ExactFile(std::string path, OpenFile open);
    // model_file: was compiled from a file with this fingerprint. wait: check it before the first row.
    void expect(std::string fingerprint, std::string model_file, bool wait);
    // Checks the fingerprint, unless it is still being computed and neither `wait` nor at_end.
    void check(bool at_end) const;
    // Returns the content; reads a large file again. For one thread at a time.
    std::string text();

    const std::string path;

private:
    struct Content {
        std::string fingerprint, text;  // text: empty if it is not kept
    };
    static std::shared_ptr<Content> read(const std::string& path, const OpenFile& open, bool again);
    void compare(const std::string& found) const;
    const OpenFile open_;
    std::shared_future<std::shared_ptr<Content>> content_;
    std::string expected_, model_file_;
    bool wait_ = false;
};

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

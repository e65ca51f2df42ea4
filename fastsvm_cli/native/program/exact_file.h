// The file of --exact, and errors of data and model files.
#pragma once
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

#include "engine/header.h"
#include "engine/line_blocks.h"
#include "files/source.h"

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

}  // namespace fastsvm

// The file of --exact. The fingerprint of a large one is computed while the model and rows are read.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "engine/line_blocks.h"

namespace fastsvm {

// Opens a file's content. Throws FileError.
using OpenFile = std::function<ByteStream(const std::string& path)>;

// Thread-safe. Its members throw what reading throws, and LineError for another model than the expected one.
class ExactFile {
public:
    // Reads a small file; begins to read another on a thread, which nobody waits for at the end. Throws FileError
    // without such a file.
    ExactFile(std::string path, OpenFile open);
    // model_file: was compiled from a file with this fingerprint. wait: check it before the first row.
    void expect(std::string fingerprint, std::string model_file, bool wait);
    // Checks the fingerprint, unless it is still being computed and neither `wait` nor at_end.
    void check(bool at_end) const;
    // Returns the content; reads a large file again.
    std::string text();

    const std::string path;

private:
    struct Content;
    void compare(const std::string& found) const;
    const OpenFile open_;
    std::shared_ptr<Content> content_;
    std::string expected_, model_file_;
    bool wait_ = false;
};

}  // namespace fastsvm

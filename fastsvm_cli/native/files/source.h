// Files to read, compressed ones among them, errors of files, and standard descriptors.
#pragma once
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace fastsvm {

// The name of an input file, or of an output file, in messages.
inline std::string display(const std::string& path) {
    return path == "-" ? "standard input" : path.empty() ? "''" : path;
}
inline std::string display_output(const std::string& path) { return path == "-" ? "standard output" : display(path); }

// An error of a file; what() is "name: why".
struct FileError : std::runtime_error {
    FileError(const std::string& name, const std::string& why, int error = 0)
        : std::runtime_error(name + ": " + why), name(name), why(why), error(error) {}
    std::string name, why;
    int error;  // errno, or 0
};

// The error of a failed system call. error: its errno.
inline FileError system_error(const std::string& name, int error) {
    return {name, error == EBADF ? "it is closed" : std::strerror(error), error};
}

// Thrown when the reader of a pipe has closed it, which is not an error.
struct ReaderGone {};

// Call once, before opening files. Replaces closed descriptors 0, 1 and 2 by placeholders without read or write access,
// so that no file takes their numbers.
void hold_closed_descriptors();
// Whether the descriptor was closed then.
bool was_closed(int descriptor);

// A format of compressed files, which begin with the bytes `magic`.
struct Compression {
    std::string_view magic;
    const char* name;
    const char* tool;  // command that prints the content
};

// Number of bytes that identify a format.
constexpr std::size_t magic_bytes = 6;

// Returns the format of a file that begins with these magic_bytes bytes, or that has only these; null if it is not
// compressed.
const Compression* compression(std::string_view start);

// Whether a file that begins with these bytes, perhaps fewer than magic_bytes, may be compressed.
bool may_be_compressed(std::string_view start);

// Reads a file or standard input, for one thread. Decompresses gzip with zlib, if available; refuses other compressed
// formats by name.
class Source {
public:
    // path: a file, or "-" for standard input. decompress: else read gives a compressed file's bytes. interrupted:
    // called if a signal arrives while it waits; may throw. Throws FileError, as read does.
    explicit Source(const std::string& path, bool decompress = true, std::function<void()> interrupted = nullptr);
    ~Source();
    Source(const Source&) = delete;

    // Reads at least one byte; returns their number, 0 at the end.
    std::size_t read(char* buffer, std::size_t size);
    // Whether a read would not wait.
    bool ready() const;
    bool compressed() const { return compressed_; }
    // Hands the descriptor and the bytes read ahead to another reader, which then owns the descriptor. Call it before
    // the first read; afterwards, this object must not read.
    std::pair<int, std::string> release();

private:
    class Inflater;
    std::size_t read_descriptor(char* buffer, std::size_t size);
    std::size_t read_file(char* buffer, std::size_t size);  // first the bytes read ahead
    const std::string path_;
    const std::function<void()> interrupted_;
    int file_ = -1;
    bool compressed_ = false;
    std::string pending_;    // read ahead
    std::size_t taken_ = 0;  // of pending_
    std::unique_ptr<Inflater> inflater_;
};

}  // namespace fastsvm

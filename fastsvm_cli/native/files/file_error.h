#pragma once
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace fastsvm {

// A file's name in messages.
inline std::string display(const std::string& path) {
    return path == "-" ? "standard input" : path.empty() ? "''" : path;
}
inline std::string display_output(const std::string& path) { return path == "-" ? "standard output" : display(path); }

struct FileError : std::runtime_error {
    FileError(const std::string& name, const std::string& why, int error = 0)
        : std::runtime_error(name + ": " + why), name(name), why(why), error(error) {}
    std::string name, why;
    int error;  // errno, or 0
};

inline FileError system_error(const std::string& name, int error) {
    return {name, error == EBADF ? "it is closed" : std::strerror(error), error};
}

// The reader of a pipe closed it: not an error.
struct ReaderGone {};

}  // namespace fastsvm

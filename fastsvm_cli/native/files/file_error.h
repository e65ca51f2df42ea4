// Errors of files, and the names of files in messages.
#pragma once
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

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

}  // namespace fastsvm

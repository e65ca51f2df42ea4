// Command lines of fastsvm-predict, and of svm-predict if the program has that name.
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace fastsvm {

// Invalid command line; the message is for standard error.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The options and files of a command line.
struct Options {
    bool probability = false, quiet = false, values = false;
    int threads = 0;  // 0: all processors
    std::optional<std::string> exact;
    std::string test_file, model_file, output = "-";
    bool help = false, version = false;  // ends the reading of options

    // The names of all files to read.
    std::vector<std::string> inputs() const;
};

// Reads the words after fastsvm-predict. Throws UsageError.
Options read_options(const std::vector<std::string>& words);
// Reads them as svm-predict does: options, then three files. UsageError holds a line for an unknown option, or "" for
// missing files.
Options read_libsvm_options(const std::vector<std::string>& words);

extern const char* const help_text;
extern const char* const libsvm_help_text;  // svm-predict's own

}  // namespace fastsvm

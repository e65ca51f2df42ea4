// The command line of fastsvm-predict, and of svm-predict where that is its name.
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace fastsvm {

// The command line cannot be followed: the message, for standard error.
struct UsageFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Options {
    bool probability = false, quiet = false, values = false;
    int threads = 0;  // 0: all processors
    std::optional<std::string> exact;
    std::string test_file, model_file, output = "-";
    bool help = false, version = false;  // nothing else is asked for then

    std::vector<std::string> inputs() const;
};

// Throws UsageFault.
Options read_options(const std::vector<std::string>& words);
// The same as svm-predict: options first, and three files. "" of a character: of an option that it does not have.
Options read_libsvm_options(const std::vector<std::string>& words);

extern const char* const help_text;         // of fastsvm-predict
extern const char* const libsvm_help_text;  // svm-predict's own

}  // namespace fastsvm

// Options and files of predict, for fastsvm-predict, `fastsvm predict` and predict_file.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "engine/line_blocks.h"

namespace fastsvm {

// Wrong usage of the command line.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Members have the options' defaults. Their meaning: commands/predict.py.
struct Request {
    bool probability = false, quiet = false, values = false, evaluations = false;
    std::optional<std::string> exact_file;
    std::optional<double> tolerance;
    std::optional<std::int64_t> steps;
    std::optional<double> audit, max_disagreement;
    std::uint64_t seed = 0;
    bool as_json = false, fail_on_empty = false, resume = false;
    std::string on_bad_row = "stop";
    std::optional<std::string> open_file, outside_file;
    std::optional<std::string> scale_file, y_scale_file;
    bool dense = false, unlabelled = false;
    std::string delimiter = ",";
    std::int64_t max_line = longest_line;  // bytes
    std::optional<std::string> dask;
    std::int64_t block = longest_line;  // bytes
    std::int64_t threads = 0;

    std::string test_file, model_file;
    std::optional<std::string> output_file;
    std::set<std::string> given;  // names of the options that the user gave

    std::string output() const { return output_file.value_or("-"); }
    std::vector<std::string> outputs() const;  // all files that are written
    std::vector<std::string> inputs() const;   // all files that are read
    // --exact answers rows, rather than an audit.
    bool falls_back() const { return exact_file && !audit; }
    // Throws UsageError for conflicts known before a file is read.
    void check() const;
};

// An option: its name in Python, its spellings, and the member that holds its value. lines: whether output lines depend
// on the value or, of a file, on whether it is given.
struct PredictOption {
    enum Kind { flag, zero_or_one, number, count, whole, share, text, bad_row, character, megabytes };
    const char* name;
    std::vector<std::string> spellings;
    Kind kind;
    std::variant<bool Request::*, std::int64_t Request::*, std::uint64_t Request::*, std::string Request::*,
                 std::optional<double> Request::*, std::optional<std::int64_t> Request::*,
                 std::optional<std::string> Request::*>
        member;
    bool lines = false;
};
extern const std::vector<PredictOption> predict_options;

// Reads the words of a command line. Throws UsageError. help, version: set if the words ask for it.
Request read_request(const std::vector<std::string>& words, bool* help, bool* version);

// Reads the words of svm-predict.
Request read_libsvm_request(const std::vector<std::string>& words);

}  // namespace fastsvm

// Errors of model files.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace fastsvm {

// An error in a model file. line: number of the invalid line, or 0 for the whole file.
struct ModelError : std::runtime_error {
    explicit ModelError(const std::string& why, std::int64_t line = 0) : std::runtime_error(why), line(line) {}
    std::int64_t line;
};

// The file has rows of data instead of a model.
struct DataFileError : ModelError {
    using ModelError::ModelError;
};

}  // namespace fastsvm

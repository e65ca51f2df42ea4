#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace fastsvm {

// line: of the file, or 0.
struct ModelError : std::runtime_error {
    explicit ModelError(const std::string& why, std::int64_t line = 0) : std::runtime_error(why), line(line) {}
    std::int64_t line;
};

// Rows of data instead of a model.
struct DataFileError : ModelError {
    using ModelError::ModelError;
};

}  // namespace fastsvm

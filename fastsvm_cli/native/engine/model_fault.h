#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace fastsvm {

// line: of the file, or 0.
struct ModelFault : std::runtime_error {
    explicit ModelFault(const std::string& why, std::int64_t line = 0) : std::runtime_error(why), line(line) {}
    std::int64_t line;
};

// Rows of data instead of a model.
struct DataFileFault : ModelFault {
    using ModelFault::ModelFault;
};

}  // namespace fastsvm

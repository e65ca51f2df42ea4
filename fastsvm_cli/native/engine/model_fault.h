// The end of a model that cannot be read.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace fastsvm {

// what(): what was found, what was expected. line: of the file, 0 where no single line is at fault.
struct ModelFault : std::runtime_error {
    explicit ModelFault(const std::string& why, std::int64_t line = 0) : std::runtime_error(why), line(line) {}
    std::int64_t line;
};

}  // namespace fastsvm

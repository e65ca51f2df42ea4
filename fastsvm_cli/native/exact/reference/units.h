// Units of rounding, and what covers it.
#pragma once
#include <limits>

namespace fastsvm {

constexpr double unit = 0x1p-53, single_unit = 0x1p-24;  // in double and in single precision
constexpr double up = 1 + 1e-9;  // covers the rounding of a radius or a norm: far fewer than 1e6 operations
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace fastsvm

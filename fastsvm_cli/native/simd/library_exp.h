// The exponential of this process's C library, many numbers at a time.
#pragma once
#include "simd/reference_lanes.h"

namespace fastsvm {

// The loop of the chosen instruction set that gives the bits of this process's std::exp: found by comparing both on
// arguments that tell the variants of glibc's algorithm apart, once per instruction set. Null where none does; the
// library is called then.
ExpLoop library_exp();

// Whether `loop` gives the bits of std::exp on those arguments.
bool gives_bits_of_library(ExpLoop loop);

}  // namespace fastsvm

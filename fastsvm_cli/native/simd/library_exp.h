// This process's C library exponential, on many numbers.
#pragma once
#include "simd/reference_lanes.h"

namespace fastsvm {

// The chosen instruction set's loop with the bits of std::exp; null (call the library) if none. Found once, by
// arguments that distinguish the variants of glibc's algorithm.
ExpLoop library_exp();

// Whether `loop` gives the bits of std::exp on those arguments.
bool gives_bits_of_library(ExpLoop loop);

}  // namespace fastsvm

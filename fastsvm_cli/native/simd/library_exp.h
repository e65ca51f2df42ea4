// This process's C library exponential, on many numbers.
#pragma once
#include "simd/reference_lanes.h"

namespace fastsvm {

// exp of this process's C library, whose bits svm-predict's sums have. std::exp may be another: zig's linker takes its
// own.
double libm_exp(double x);

// The chosen instruction set's loop with the bits of libm_exp; null (call the library) if none. Found once, by
// arguments that distinguish the variants of glibc's algorithm.
ExpLoop library_exp();

// Whether `loop` gives the bits of libm_exp on those arguments.
bool gives_bits_of_library(ExpLoop loop);

}  // namespace fastsvm

#pragma once
#include "simd/reference_lanes.h"

namespace fastsvm {

// exp of this process's C library, with the bits of svm-predict's sums. std::exp may be another one: zig's linker takes
// its own.
double libm_exp(double x);

// Loop with the bits of libm_exp, for the chosen instruction set, or null. Found once, by arguments that distinguish
// the variants of glibc's algorithm.
ExpLoop library_exp();

// Compares them on those arguments.
bool gives_bits_of_library(ExpLoop loop);

}  // namespace fastsvm

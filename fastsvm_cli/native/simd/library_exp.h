// The C library's exp, and vector loops that give the same bits.
#pragma once
#include "simd/loops.h"

namespace fastsvm {

// exp of this process's C library, with the bits of svm-predict's sums. std::exp may be another one: zig's linker takes
// its own.
double libm_exp(double x);

// Returns a loop with the bits of libm_exp for the chosen instruction set, or null. It is found once per instruction
// set, by arguments that distinguish the variants of glibc's algorithm.
ExpLoop library_exp();

// Compares a loop, which may be null, with libm_exp on those arguments.
bool gives_bits_of_library(ExpLoop loop);

}  // namespace fastsvm

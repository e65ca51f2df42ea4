// Registers and intrinsics, for files compiled per instruction set. Those must not use inline functions of the standard
// library: the linker keeps one copy, maybe with instructions that the machine lacks.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__) && !defined(__ARM_BIG_ENDIAN)
#include <arm_neon.h>
#define FASTSVM_NEON
#endif

#define FASTSVM_INLINE inline __attribute__((always_inline))

namespace fastsvm::FASTSVM_ISA {
namespace {

// No vector type is longer: GCC would handle it piecewise in memory.
#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX2__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

}  // namespace
}  // namespace fastsvm::FASTSVM_ISA

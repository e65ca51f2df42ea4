// e^x in lanes, with the bits of glibc's exp (2.28 and later). Algorithm and constants are those of Arm's
// optimized-routines (math/exp.c, math/exp_data.c):
//
//   Copyright (c) 2018-2025, Arm Limited. SPDX-License-Identifier: MIT OR Apache-2.0 WITH LLVM-exception
//
// x = k ln2/128 + r, |r| <= ln2/256; e^x = 2^(k/128) (1 + p(r)), p of degree 5. glibc has a build with and one without
// fused multiply-adds, chosen by processor; on aarch64 it always fuses, and rounds x 128/ln2 with a separate
// instruction.
#pragma once
#include <cstdint>

namespace fastsvm {

// Per i: the bits of a correction, and those of 2^(i/128) less i << 45, which adding k << 45 restores.
extern const std::uint64_t exp_table[128][2];

// For |x| from exp_near on, glibc takes other paths, perhaps fused differently: callers use the library's exp there.
// Below exp_zero, e^x is 0.
constexpr double exp_near = 512, exp_zero = -746;

}  // namespace fastsvm

#ifdef FASTSVM_ISA
#include "simd/isa.h"

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

constexpr int doubles = register_bytes / 8;
typedef double vd __attribute__((vector_size(register_bytes)));
typedef std::uint64_t vu __attribute__((vector_size(register_bytes)));

FASTSVM_INLINE vd load(const double* p) {
    vd x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}
FASTSVM_INLINE void store(double* p, vd x) { __builtin_memcpy(p, &x, sizeof x); }
FASTSVM_INLINE vd all(double x) { return vd{} + x; }

FASTSVM_INLINE bool any(vu mask) {
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_pd((__m256d)mask) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_pd((__m128d)mask) != 0;
#else
    return (mask[0] | mask[1]) != 0;
#endif
}

#if defined(__FMA__) || defined(FASTSVM_NEON)
#define FASTSVM_FUSED 1
FASTSVM_INLINE vd fused(vd a, vd b, vd c) {
#if defined(__AVX512F__)
    return (vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__)
    return (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__FMA__)
    return (vd)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)c);
#else
    return (vd)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#endif
}
#endif

template <bool fuse> FASTSVM_INLINE vd product_and(vd a, vd b, vd c) {
#ifdef FASTSVM_FUSED
    if (fuse) return fused(a, b, c);
#endif
    return a * b + c;
}

// Both table columns, for the low seven bits of k.
FASTSVM_INLINE void look_up(vu k, vd& correction, vu& power) {
#if defined(__AVX2__)
    // Loads table rows: a gather is slower.
    const vu bytes = (k << 4) & (127 << 4);
    const auto row = [&](int lane) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(reinterpret_cast<const char*>(exp_table) + bytes[lane]));
    };
    const auto rows = [&](int first, int second) {
        return _mm256_inserti128_si256(_mm256_castsi128_si256(row(first)), row(second), 1);
    };
#if defined(__AVX512F__)
    // Masked: GCC 12 warns of undefined numbers in the unmasked forms.
    const __m512i even = _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(rows(0, 2)), rows(4, 6), 1);
    const __m512i odd = _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(rows(1, 3)), rows(5, 7), 1);
    correction = (vd)_mm512_maskz_unpacklo_epi64(0xff, even, odd);
    power = (vu)_mm512_maskz_unpackhi_epi64(0xff, even, odd);
#else
    const __m256i even = rows(0, 2), odd = rows(1, 3);
    correction = (vd)_mm256_unpacklo_epi64(even, odd);
    power = (vu)_mm256_unpackhi_epi64(even, odd);
#endif
#else
    const vu at = k & 127;
    correction = (vd)vu{exp_table[at[0]][0], exp_table[at[1]][0]};
    power = vu{exp_table[at[0]][1], exp_table[at[1]][1]};
#endif
}

// e^x for |x| < exp_near.
template <bool fuse> FASTSVM_INLINE vd glibc_exp(vd x) {
    const vd per_ln2 = all(0x1.71547652b82fep0 * 128);
#if defined(__aarch64__)
    const float64x2_t nearest = vrndaq_f64((float64x2_t)(x * per_ln2));
    const vd k = (vd)nearest;
    const vu bits = (vu)vcvtaq_s64_f64(nearest);
#else
    const vd shift = all(0x1.8p52);  // adding it rounds to a whole number, left in the low bits
    const vd shifted = product_and<fuse>(x, per_ln2, shift);
    const vd k = shifted - shift;
    const vu bits = (vu)shifted;
#endif
    const vd r = product_and<fuse>(k, all(-0x1.cf79abc9e3b3ap-47), product_and<fuse>(k, all(-0x1.62e42fefa0000p-8), x));
    vd correction;
    vu power;
    look_up(bits, correction, power);
    const vd scale = (vd)(power + (bits << 45));
    const vd r2 = r * r;
    const vd low = product_and<fuse>(r, all(0x1.555555555543cp-3), all(0x1.ffffffffffdbdp-2));
    const vd high = product_and<fuse>(r, all(0x1.1111167a4d017p-7), all(0x1.55555cf172b91p-5));
    const vd p = product_and<fuse>(r2 * r2, high, product_and<fuse>(r2, low, correction + r));
    return product_and<fuse>(scale, p, scale);
}

}  // namespace
}  // namespace FASTSVM_ISA
}  // namespace fastsvm
#endif

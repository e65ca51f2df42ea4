// Exponentials of n registers, computed in step because each one is a long dependency chain. For files compiled per
// instruction set (isa.h).
#pragma once
#include "simd/wide.h"

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

#define FASTSVM_EACH _Pragma("GCC unroll 16") for (int i = 0; i < n; ++i)

// x = e^x for x <= 0, within 3 units in the last place down to -708; below that 0 (e^x < 4e-308). x = k ln 2 + r, |r|
// <= ln 2 / 2; the Taylor polynomial of degree 13 leaves r^14/14! < 5e-18.
template <class V, int n> FASTSVM_INLINE void exp_nonpositive(V (&x)[n]) {
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number
    constexpr double factors[] = {1.0 / 479001600.0,
                                  1.0 / 39916800.0,
                                  1.0 / 3628800.0,
                                  1.0 / 362880.0,
                                  1.0 / 40320.0,
                                  1.0 / 5040.0,
                                  1.0 / 720.0,
                                  1.0 / 120.0,
                                  1.0 / 24.0,
                                  1.0 / 6.0,
                                  0.5,
                                  1.0,
                                  1.0};
    const V least = V::splat(-708.0), zero = V::splat(0.0);
    V clamped[n], biased[n], k[n], r[n], p[n];
    FASTSVM_EACH clamped[i] = larger(least, x[i]);  // NaN stays
    FASTSVM_EACH biased[i] = clamped[i] * 1.4426950408889634 + shift;
    FASTSVM_EACH k[i] = biased[i] - shift;
    FASTSVM_EACH r[i] = (clamped[i] - k[i] * 6.93147180369123816490e-01) - k[i] * 1.90821492927058770002e-10;
    FASTSVM_EACH p[i] = V::splat(1.0 / 6227020800.0);
    _Pragma("GCC unroll 16") for (double factor : factors) FASTSVM_EACH p[i] = p[i] * r[i] + factor;
    // Low bits of `biased` hold k. For x above 0 (negative gamma) they may wrap.
    FASTSVM_EACH x[i] = where_less(x[i], least, zero, times_power(p[i], biased[i]));
}

// -gamma |x - z|^2, at most 0 for gamma >= 0, from norms = |x|^2 + |z|^2 and dots = x.z.
template <class V> FASTSVM_INLINE V rbf_exponent(double gamma, V norms, V dots) {
    const V distance = norms - 2.0 * dots, zero = V::splat(0.0);
    return -gamma * larger(zero, distance);  // NaN stays
}

// x = 2^-x for x > -1, and 2^-126 from x = 126 on (B23). Always a normal number; arbitrary for other x, in rows without
// a bound.
template <class V, int n> FASTSVM_INLINE void negative_powers(V (&x)[n]) {
    constexpr float shift = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
    constexpr float factors[] = {-0x1.5f3eacp-10F, 0x1.3b2d4ep-7F,  -0x1.c6aee8p-5F,
                                 0x1.ebfbdcp-3F,   -0x1.62e430p-1F, 1.0F};
    const V most = V::splat(126.0F);
    V shifted[n], r[n], p[n];
    FASTSVM_EACH x[i] = smaller(x[i], most);
    FASTSVM_EACH shifted[i] = x[i] + shift;
    FASTSVM_EACH r[i] = x[i] - (shifted[i] - shift);
    FASTSVM_EACH p[i] = V::splat(0x1.41fb82p-13F);
    _Pragma("GCC unroll 16") for (float factor : factors) FASTSVM_EACH p[i] = p[i] * r[i] + factor;
    FASTSVM_EACH x[i] = over_power(p[i], shifted[i]);
}

#undef FASTSVM_EACH

}  // namespace
}  // namespace FASTSVM_ISA
}  // namespace fastsvm

// Wide<T, n>: n numbers in registers, as a binary tree whose leaves are registers. For files compiled per instruction
// set (isa.h). On AVX2, loops over 64-byte vector types take 3 to 30 times as long.
#pragma once
#include <cstdint>

#include "simd/isa.h"

namespace fastsvm::FASTSVM_ISA {
namespace {

// A number's bits, unsigned because sums may wrap.
template <class T> struct BitsOf;
template <> struct BitsOf<double> {
    typedef std::uint64_t type;
    static constexpr int mantissa = 52;
};
template <> struct BitsOf<float> {
    typedef std::uint32_t type;
    static constexpr int mantissa = 23;
};

// x < y ? x : y and x > y ? x : y in one instruction; GCC would use two.
#if defined(__SSE2__)
#define FASTSVM_EXTREMES(T, bytes, name, suffix)                                  \
    typedef T name __attribute__((vector_size(bytes)));                           \
    FASTSVM_INLINE name least(name x, name y) { return (name)suffix(min, x, y); } \
    FASTSVM_INLINE name most(name x, name y) { return (name)suffix(max, x, y); }
#define FASTSVM_PS(which, x, y) _mm_##which##_ps((__m128)(x), (__m128)(y))
#define FASTSVM_PD(which, x, y) _mm_##which##_pd((__m128d)(x), (__m128d)(y))
FASTSVM_EXTREMES(float, 16, float4, FASTSVM_PS)
FASTSVM_EXTREMES(double, 16, double2, FASTSVM_PD)
#if defined(__AVX2__)
#define FASTSVM_PS256(which, x, y) _mm256_##which##_ps((__m256)(x), (__m256)(y))
#define FASTSVM_PD256(which, x, y) _mm256_##which##_pd((__m256d)(x), (__m256d)(y))
FASTSVM_EXTREMES(float, 32, float8, FASTSVM_PS256)
FASTSVM_EXTREMES(double, 32, double4, FASTSVM_PD256)
#endif
#if defined(__AVX512F__)  // masked: GCC 12 warns of the unmasked ones
#define FASTSVM_PS512(which, x, y) _mm512_maskz_##which##_ps(0xffff, (__m512)(x), (__m512)(y))
#define FASTSVM_PD512(which, x, y) _mm512_maskz_##which##_pd(0xff, (__m512d)(x), (__m512d)(y))
FASTSVM_EXTREMES(float, 64, float16, FASTSVM_PS512)
FASTSVM_EXTREMES(double, 64, double8, FASTSVM_PD512)
#endif
#else
template <class V> FASTSVM_INLINE V least(V x, V y) { return x < y ? x : y; }
template <class V> FASTSVM_INLINE V most(V x, V y) { return x > y ? x : y; }
#endif

template <class T, int n, bool one_register = n * static_cast<int>(sizeof(T)) <= register_bytes> struct Wide;

template <class T, int n> struct Wide<T, n, true> {
    typedef T V __attribute__((vector_size(n * sizeof(T))));
    typedef typename BitsOf<T>::type Bits __attribute__((vector_size(n * sizeof(T))));
    V v;

    static FASTSVM_INLINE Wide splat(T x) { return {x - V{}}; }  // x + 0 would be an addition, because of -0
    static FASTSVM_INLINE Wide load(const T* p) {
        Wide x;
        __builtin_memcpy(&x.v, p, sizeof x.v);
        return x;
    }
    FASTSVM_INLINE void store(T* p) const { __builtin_memcpy(p, &v, sizeof v); }
    FASTSVM_INLINE T operator[](int i) const { return v[i]; }
    FASTSVM_INLINE friend Wide operator+(Wide x, Wide y) { return {x.v + y.v}; }
    FASTSVM_INLINE friend Wide operator-(Wide x, Wide y) { return {x.v - y.v}; }
    FASTSVM_INLINE friend Wide operator*(Wide x, Wide y) { return {x.v * y.v}; }
    // These two give y if the numbers cannot be compared (NaN).
    FASTSVM_INLINE friend Wide smaller(Wide x, Wide y) { return {least(x.v, y.v)}; }
    FASTSVM_INLINE friend Wide larger(Wide x, Wide y) { return {most(x.v, y.v)}; }
    FASTSVM_INLINE friend Wide where_less(Wide x, Wide y, Wide a, Wide b) { return {x.v < y.v ? a.v : b.v}; }
    FASTSVM_INLINE friend Wide where_at_most(Wide x, Wide y, Wide a, Wide b) { return {x.v <= y.v ? a.v : b.v}; }
    // x times or over 2^k, if normal; low bits of `k` hold k.
    FASTSVM_INLINE friend Wide times_power(Wide x, Wide k) {
        return {(V)((Bits)x.v + ((Bits)k.v << BitsOf<T>::mantissa))};
    }
    FASTSVM_INLINE friend Wide over_power(Wide x, Wide k) {
        return {(V)((Bits)x.v - ((Bits)k.v << BitsOf<T>::mantissa))};
    }
};

template <class T, int n> struct Wide<T, n, false> {
    typedef Wide<T, n / 2> Half;
    Half low, high;

    static FASTSVM_INLINE Wide splat(T x) { return {Half::splat(x), Half::splat(x)}; }
    static FASTSVM_INLINE Wide load(const T* p) { return {Half::load(p), Half::load(p + n / 2)}; }
    FASTSVM_INLINE void store(T* p) const {
        low.store(p);
        high.store(p + n / 2);
    }
    FASTSVM_INLINE T operator[](int i) const { return i < n / 2 ? low[i] : high[i - n / 2]; }
    FASTSVM_INLINE friend Wide operator+(Wide x, Wide y) { return {x.low + y.low, x.high + y.high}; }
    FASTSVM_INLINE friend Wide operator-(Wide x, Wide y) { return {x.low - y.low, x.high - y.high}; }
    FASTSVM_INLINE friend Wide operator*(Wide x, Wide y) { return {x.low * y.low, x.high * y.high}; }
    FASTSVM_INLINE friend Wide smaller(Wide x, Wide y) { return {smaller(x.low, y.low), smaller(x.high, y.high)}; }
    FASTSVM_INLINE friend Wide larger(Wide x, Wide y) { return {larger(x.low, y.low), larger(x.high, y.high)}; }
    FASTSVM_INLINE friend Wide where_less(Wide x, Wide y, Wide a, Wide b) {
        return {where_less(x.low, y.low, a.low, b.low), where_less(x.high, y.high, a.high, b.high)};
    }
    FASTSVM_INLINE friend Wide where_at_most(Wide x, Wide y, Wide a, Wide b) {
        return {where_at_most(x.low, y.low, a.low, b.low), where_at_most(x.high, y.high, a.high, b.high)};
    }
    FASTSVM_INLINE friend Wide times_power(Wide x, Wide k) {
        return {times_power(x.low, k.low), times_power(x.high, k.high)};
    }
    FASTSVM_INLINE friend Wide over_power(Wide x, Wide k) {
        return {over_power(x.low, k.low), over_power(x.high, k.high)};
    }
};

#define FASTSVM_WIDE template <class T, int n, bool one> FASTSVM_INLINE
FASTSVM_WIDE Wide<T, n, one> operator+(Wide<T, n, one> x, T y) { return x + Wide<T, n, one>::splat(y); }
FASTSVM_WIDE Wide<T, n, one> operator-(Wide<T, n, one> x, T y) { return x - Wide<T, n, one>::splat(y); }
FASTSVM_WIDE Wide<T, n, one> operator*(Wide<T, n, one> x, T y) { return x * Wide<T, n, one>::splat(y); }
FASTSVM_WIDE Wide<T, n, one> operator+(T x, Wide<T, n, one> y) { return Wide<T, n, one>::splat(x) + y; }
FASTSVM_WIDE Wide<T, n, one> operator-(T x, Wide<T, n, one> y) { return Wide<T, n, one>::splat(x) - y; }
FASTSVM_WIDE Wide<T, n, one> operator*(T x, Wide<T, n, one> y) { return Wide<T, n, one>::splat(x) * y; }
FASTSVM_WIDE Wide<T, n, one>& operator+=(Wide<T, n, one>& x, Wide<T, n, one> y) { return x = x + y; }
FASTSVM_WIDE Wide<T, n, one>& operator*=(Wide<T, n, one>& x, Wide<T, n, one> y) { return x = x * y; }
#undef FASTSVM_WIDE

#if defined(__AVX512F__)
FASTSVM_INLINE Wide<double, 8> widened(Wide<float, 8> x) {
    return {(Wide<double, 8>::V)_mm512_maskz_cvtps_pd(0xff, (__m256)x.v)};  // masked, as above
}
#elif defined(__AVX2__)
FASTSVM_INLINE Wide<double, 8> widened(Wide<float, 8> x) {
    typedef Wide<double, 4>::V V;
    return {{(V)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x.v))},
            {(V)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x.v, 1))}};
}
#else
FASTSVM_INLINE Wide<double, 4> widened(Wide<float, 4> x) {
    typedef Wide<double, 2>::V V;
#if defined(__SSE2__)
    return {{(V)_mm_cvtps_pd((__m128)x.v)}, {(V)_mm_cvtps_pd(_mm_movehl_ps((__m128)x.v, (__m128)x.v))}};
#elif defined(FASTSVM_NEON)
    return {{(V)vcvt_f64_f32(vget_low_f32((float32x4_t)x.v))}, {(V)vcvt_high_f64_f32((float32x4_t)x.v)}};
#else
    return {{V{x[0], x[1]}}, {V{x[2], x[3]}}};
#endif
}
FASTSVM_INLINE Wide<double, 8> widened(Wide<float, 8> x) { return {widened(x.low), widened(x.high)}; }
#endif
// The first half plus the second half, in double precision.
FASTSVM_INLINE Wide<double, 8> widened_halves(Wide<float, 16> x) {
#if defined(__AVX512F__)
    Wide<float, 8> low, high;
    __builtin_memcpy(&low, &x, sizeof low);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&x) + sizeof low, sizeof high);
    return widened(low) + widened(high);
#else
    return widened(x.low) + widened(x.high);
#endif
}
FASTSVM_INLINE Wide<float, 8> narrowed(Wide<double, 8> x) {
#if defined(__AVX512F__)
    return {(Wide<float, 8>::V)_mm512_maskz_cvtpd_ps(0xff, (__m512d)x.v)};
#elif defined(__AVX2__)
    return {(Wide<float, 8>::V)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)x.high.v), _mm256_cvtpd_ps((__m256d)x.low.v))};
#else
    float out[8];
    for (int i = 0; i < 8; ++i) out[i] = static_cast<float>(x[i]);
    return Wide<float, 8>::load(out);
#endif
}

// One register, and eight numbers in one, two or four.
constexpr int floats = register_bytes / 4, doubles = register_bytes / 8;
typedef Wide<float, floats> vf;
typedef Wide<double, doubles> vd;
typedef Wide<double, 8> v8;

FASTSVM_INLINE v8 load(const double* p) { return v8::load(p); }
FASTSVM_INLINE void store(double* p, v8 x) { x.store(p); }
FASTSVM_INLINE v8 splat(double x) { return v8::splat(x); }

// Sum of eight numbers, pairing neighbours.
FASTSVM_INLINE double total(v8 s) { return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])); }

// Calls call(Number<n>()) for a number that is not a constant: n, from 1 to `most`.
template <int n> struct Number {
    static constexpr int value = n;
};
template <int most, class Call> FASTSVM_INLINE auto by_number(int n, Call call) {
    if constexpr (most == 1)
        return call(Number<1>());
    else
        return n >= most ? call(Number<most>()) : by_number<most - 1>(n, call);
}

// Exponentials of n registers, computed in step because each one is a long dependency chain. For files compiled per
// instruction set (isa.h).

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
}  // namespace fastsvm::FASTSVM_ISA

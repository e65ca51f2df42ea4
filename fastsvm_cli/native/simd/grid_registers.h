// Registers of 32-bit numbers, and powers of two, for grid.cpp and grid_codes.cpp.
#pragma once
#include "simd/grid_loops.h"
#include "simd/isa.h"
#include "simd/loops.h"

// Compiles the loops for codes, which permute bytes. (AVX-512 has only the loops that were measured on it.)
#if defined(FASTSVM_NEON) || (defined(__AVX2__) && !defined(__AVX512F__))
#define FASTSVM_GRID_CODES
#endif

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

constexpr int width = register_bytes / 4;  // numbers per register
typedef std::int32_t I __attribute__((vector_size(register_bytes)));
typedef std::uint32_t U __attribute__((vector_size(register_bytes)));
typedef float F __attribute__((vector_size(register_bytes)));

template <class V, class T> inline V load(const T* p) {
    V x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}
template <class V, class T> inline void store(T* p, V x) { __builtin_memcpy(p, &x, sizeof x); }
inline U splat(std::uint32_t x) { return U{} + x; }
inline I splat(std::int32_t x) { return I{} + x; }
inline F splat(float x) { return F{} + x; }

// a b + c, in one rounding if possible.
inline F multiply_add(F a, F b, F c) {
#if defined(__AVX512F__)
    return (F)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    return (F)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(FASTSVM_NEON)
    return (F)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    return a * b + c;
#endif
}

// 2^-r for |r| up to slightly above 1/2 (B34).
inline F power_of_two(F r) {
    const F y = r * -0.693147180559945309f;
    F p = multiply_add(splat(1.0f / 5040), y, splat(1.0f / 720));
    p = multiply_add(p, y, splat(1.0f / 120));
    p = multiply_add(p, y, splat(1.0f / 24));
    p = multiply_add(p, y, splat(1.0f / 6));
    p = multiply_add(p, y, splat(0.5f));
    p = multiply_add(p, y, splat(1.0f));
    return multiply_add(p, y, splat(1.0f));
}

// 2^-(c D): B34. Without fused multiply-add, the product is in double precision.
struct Polynomial {
    I nothing;
#if defined(__FMA__) || defined(FASTSVM_NEON)
    F high, low;
    explicit Polynomial(const GridExponential& e) : nothing(splat(e.nothing)), high(splat(e.high)), low(splat(e.low)) {}
    F operator()(I d) const {
        const F most = __builtin_convertvector(d, F);
        const F left = __builtin_convertvector(d - __builtin_convertvector(most, I), F);
        return power(d, most, multiply_add(left, high, lost(most)));
    }

protected:
    F lost(F most) const { return multiply_add(most, high, -(most * high)); }
    F power(I d, F most, F lost) const {
        const F product = most * high;
        const F rest = multiply_add(most, low, lost);
        const F biased = product + 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
        const F r = (product - (biased - 12582912.0f)) + rest;
        const I value = (I)((U)power_of_two(r) - ((U)biased << 23));
        return (F)(d < nothing ? value : I{});
    }
#else
    double exponent;
    explicit Polynomial(const GridExponential& e) : nothing(splat(e.nothing)), exponent(e.exponent) {}
    F operator()(I d) const {
        typedef double D __attribute__((vector_size(8 * width)));
        typedef long long L __attribute__((vector_size(8 * width)));
        const I least = d < nothing ? d : nothing;
        const D product = __builtin_convertvector(least, D) * exponent;
        const D biased = product + 6755399441055744.0;  // 1.5 * 2^52
        const F r = __builtin_convertvector(product - (biased - 6755399441055744.0), F);
        const U k = (U) __builtin_convertvector((L)biased, I);
        const I value = (I)((U)power_of_two(r) - (k << 23));
        return (F)(d < nothing ? value : I{});
    }
#endif
};

}  // namespace
}  // namespace FASTSVM_ISA
}  // namespace fastsvm

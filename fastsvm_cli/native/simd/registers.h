// Operations on one register of doubles, for files compiled per instruction set (isa.h).
#pragma once
#include <cstdint>

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

}  // namespace
}  // namespace FASTSVM_ISA
}  // namespace fastsvm

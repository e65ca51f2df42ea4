// Compiled without contraction: a fused multiply-add rounds once where LIBSVM rounds twice.
#include "simd/loops.h"

#include <cmath>

#include "simd/wide.h"

namespace fastsvm::FASTSVM_ISA {
namespace {

// Rows side by side: one row's sums are dependent, different rows' are not. Leaves enough registers for the rest of a
// loop.
template <int rows> constexpr int rows_at_once = rows < 8 * doubles ? rows : 8 * doubles;

bool same_indices(const LaneEntries& x, const LaneEntries& y) {
    return x.count == y.count &&
           __builtin_memcmp(x.indices, y.indices, static_cast<std::size_t>(x.count) * sizeof *x.indices) == 0;
}

// Visits the indices of either, in order: both(i, j) where they are equal, else of_rows(i) or of_vector(j). Rests of
// one of them are visited if `rests`. same: same_indices(x, y).
template <bool rests, class Both, class OfRows, class OfVector>
FASTSVM_INLINE void merge(bool same, const LaneEntries& x, const LaneEntries& y, Both both, OfRows of_rows,
                          OfVector of_vector) {
    std::int64_t i = 0;
    for (; same && i < x.count; ++i) both(i, i);
    std::int64_t j = i;
    while (i < x.count && j < y.count) {
        if (x.indices[i] == y.indices[j])
            both(i++, j++);
        else if (x.indices[i] > y.indices[j])
            of_vector(j++);
        else
            of_rows(i++);
    }
    for (; rests && i < x.count; ++i) of_rows(i);
    for (; rests && j < y.count; ++j) of_vector(j);
}

template <int rows> void squared_distances(const LaneEntries& x, const LaneEntries& y, double* out) {
    constexpr int now = rows_at_once<rows>;
    typedef Wide<double, now> V;
    const bool same = same_indices(x, y);
    for (int from = 0; from < rows; from += now) {
        const double* const values = x.values + from;
        V sum = V::splat(0);
        const auto add_square = [&](V difference) { sum += difference * difference; };
        merge<true>(
            same, x, y, [&](std::int64_t i, std::int64_t j) { add_square(y.values[j] - V::load(values + i * rows)); },
            [&](std::int64_t i) { add_square(V::load(values + i * rows)); },
            [&](std::int64_t j) { sum = sum + y.values[j] * y.values[j]; });
        sum.store(out + from);
    }
}

template <int rows> void dots(const LaneEntries& x, const LaneEntries& y, double* out) {
    constexpr int now = rows_at_once<rows>;
    typedef Wide<double, now> V;
    const bool same = same_indices(x, y);
    for (int from = 0; from < rows; from += now) {
        const double* const values = x.values + from;
        V sum = V::splat(0);
        merge<false>(
            same, x, y, [&](std::int64_t i, std::int64_t j) { sum += V::load(values + i * rows) * y.values[j]; },
            [](std::int64_t) {}, [](std::int64_t) {});
        sum.store(out + from);
    }
}

template <int rows>
void add_terms(std::int64_t count, const double* coef, std::int64_t stride, const double* values, double* sums) {
    constexpr int now = rows_at_once<rows>;
    typedef Wide<double, now> V;
    for (int from = 0; from < rows; from += now) {
        V sum = V::load(sums + from);
        for (std::int64_t t = 0; t < count; ++t) sum += V::load(values + t * rows + from) * coef[t * stride];
        sum.store(sums + from);
    }
}

void powers(std::int64_t n, double gamma, double coef0, int degree, double* values) {
    typedef Wide<double, reference_lanes> V;
    for (std::int64_t s = 0; s < n; s += reference_lanes) {
        V base = gamma * V::load(values + s) + coef0, result = V::splat(1);
        for (int t = degree; t > 0; t /= 2) {
            if (t % 2 == 1) result *= base;
            base *= base;
        }
        result.store(values + s);
    }
}

// ---- e^x in lanes, with the bits of glibc's exp (2.28 and later). Algorithm and constants are those of Arm's
// optimized-routines (math/exp.c, math/exp_data.c):
//
//   Copyright (c) 2018-2025, Arm Limited. SPDX-License-Identifier: MIT OR Apache-2.0 WITH LLVM-exception
//
// x = k ln2/128 + r, |r| <= ln2/256; e^x = 2^(k/128) (1 + p(r)), p of degree 5. glibc has a build with and one without
// fused multiply-adds, chosen by processor; on aarch64 it always fuses, and rounds x 128/ln2 with a separate
// instruction.

typedef vd::V Reals;
typedef vd::Bits Bits;

FASTSVM_INLINE Reals every(double x) { return Reals{} + x; }

// 2^(i/128) = power (1 + correction), both rounded to nearest. `power`: its bits less i << 45, which adding k << 45
// restores.
struct ExpRow {
    double correction;
    std::uint64_t power;
};

struct alignas(64) ExpTable {
    ExpRow row[128];
};

constexpr ExpTable make_exp_table() {
    __extension__ typedef unsigned __int128 Fixed;  // a number from 1 to 2, times 2^127
    constexpr std::uint64_t step_high = 0x80b1ed4fd999ab6c, step_low = 0x25335719b6e6fd20;  // 2^(1/128)
    ExpTable all{};
    Fixed exact = Fixed{1} << 127;
    for (int i = 0; i < 128; ++i) {
        const std::uint64_t significand = static_cast<std::uint64_t>((exact + (Fixed{1} << 74)) >> 75);
        const Fixed nearest = static_cast<Fixed>(significand) << 75;
        const double off =
            static_cast<double>(((exact < nearest ? nearest - exact : exact - nearest) << 53) / significand);
        all.row[i].correction = exact < nearest ? -off * 0x1p-128 : off * 0x1p-128;
        all.row[i].power = significand + (std::uint64_t{1022} << 52) - (static_cast<std::uint64_t>(i) << 45);
        const std::uint64_t high = static_cast<std::uint64_t>(exact >> 64), low = static_cast<std::uint64_t>(exact);
        exact = (static_cast<Fixed>(high) * step_high + (static_cast<Fixed>(high) * step_low >> 64) +
                 (static_cast<Fixed>(low) * step_high >> 64))
                << 1;
    }
    return all;
}

constexpr ExpTable exp_table = make_exp_table();

FASTSVM_INLINE bool any(Bits mask) {
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
FASTSVM_INLINE Reals fused(Reals a, Reals b, Reals c) {
#if defined(__AVX512F__)
    return (Reals)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__)
    return (Reals)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__FMA__)
    return (Reals)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)c);
#else
    return (Reals)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#endif
}
#endif

template <bool fuse> FASTSVM_INLINE Reals product_and(Reals a, Reals b, Reals c) {
#ifdef FASTSVM_FUSED
    if (fuse) return fused(a, b, c);
#endif
    return a * b + c;
}

// Both table columns, for the low seven bits of k.
FASTSVM_INLINE void look_up(Bits k, Reals& correction, Bits& power) {
#if defined(__AVX2__)
    // Loads table rows: a gather is slower.
    const Bits bytes = (k << 4) & (127 << 4);
    const auto row = [&](int lane) {
        return _mm_load_si128(
            reinterpret_cast<const __m128i*>(reinterpret_cast<const char*>(exp_table.row) + bytes[lane]));
    };
    const auto rows = [&](int first, int second) {
        return _mm256_inserti128_si256(_mm256_castsi128_si256(row(first)), row(second), 1);
    };
#if defined(__AVX512F__)
    // Masked: GCC 12 warns of undefined numbers in the unmasked forms.
    const __m512i even = _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(rows(0, 2)), rows(4, 6), 1);
    const __m512i odd = _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(rows(1, 3)), rows(5, 7), 1);
    correction = (Reals)_mm512_maskz_unpacklo_epi64(0xff, even, odd);
    power = (Bits)_mm512_maskz_unpackhi_epi64(0xff, even, odd);
#else
    const __m256i even = rows(0, 2), odd = rows(1, 3);
    correction = (Reals)_mm256_unpacklo_epi64(even, odd);
    power = (Bits)_mm256_unpackhi_epi64(even, odd);
#endif
#else
    const ExpRow &first = exp_table.row[k[0] & 127], &second = exp_table.row[k[1] & 127];
    correction = Reals{first.correction, second.correction};
    power = Bits{first.power, second.power};
#endif
}

// e^x for |x| < exp_near.
template <bool fuse> FASTSVM_INLINE Reals glibc_exp(Reals x) {
    const Reals per_ln2 = every(0x1.71547652b82fep0 * 128);
#if defined(__aarch64__)
    const float64x2_t nearest = vrndaq_f64((float64x2_t)(x * per_ln2));
    const Reals k = (Reals)nearest;
    const Bits bits = (Bits)vcvtaq_s64_f64(nearest);
#else
    const Reals shift = every(0x1.8p52);  // adding it rounds to a whole number, left in the low bits
    const Reals shifted = product_and<fuse>(x, per_ln2, shift);
    const Reals k = shifted - shift;
    const Bits bits = (Bits)shifted;
#endif
    const Reals r =
        product_and<fuse>(k, every(-0x1.cf79abc9e3b3ap-47), product_and<fuse>(k, every(-0x1.62e42fefa0000p-8), x));
    Reals correction;
    Bits power;
    look_up(bits, correction, power);
    const Reals scale = (Reals)(power + (bits << 45));
    const Reals r2 = r * r;
    const Reals low = product_and<fuse>(r, every(0x1.555555555543cp-3), every(0x1.ffffffffffdbdp-2));
    const Reals high = product_and<fuse>(r, every(0x1.1111167a4d017p-7), every(0x1.55555cf172b91p-5));
    const Reals p = product_and<fuse>(r2 * r2, high, product_and<fuse>(r2, low, correction + r));
    return product_and<fuse>(scale, p, scale);
}

// Several registers, since each waits for its table rows.
template <bool fuse, int registers> FASTSVM_INLINE void exponentials_of(double factor, double* values) {
    Reals x[registers], power[registers];
    Bits near = ~Bits{};
#pragma GCC unroll 4
    for (int w = 0; w < registers; ++w) {
        x[w] = factor * vd::load(values + w * doubles).v;
        near &= (Bits)((Reals)((Bits)x[w] & ~(std::uint64_t{1} << 63)) < exp_near);  // false for NaN
    }
#pragma GCC unroll 4
    for (int w = 0; w < registers; ++w) power[w] = glibc_exp<fuse>(x[w]);
#pragma GCC unroll 4
    for (int w = 0; w < registers; ++w) vd{power[w]}.store(values + w * doubles);
    if (!__builtin_expect(any(~near), false)) return;
    for (int w = 0; w < registers; ++w)
        for (int lane = 0; lane < doubles; ++lane) {
            const double of = x[w][lane];
            if (!(of > -exp_near && of < exp_near)) values[w * doubles + lane] = of < exp_zero ? 0 : libm_exp(of);
        }
}

template <bool fuse> void exponentials(std::int64_t n, double factor, double* values) {
    constexpr int registers = 4;
    std::int64_t s = 0;
    for (; s + registers * doubles <= n; s += registers * doubles) exponentials_of<fuse, registers>(factor, values + s);
    for (; s < n; s += doubles) exponentials_of<fuse, 1>(factor, values + s);
}

#ifdef FASTSVM_FUSED
constexpr ExpLoop fused_exp = exponentials<true>;
#else
constexpr ExpLoop fused_exp = nullptr;
#endif

template <int rows>
constexpr ReferenceLoops loops_of{squared_distances<rows>, dots<rows>, add_terms<rows>, powers,
                                  exponentials<false>,     fused_exp};

}  // namespace

extern const ReferenceLoops narrow_reference, wide_reference;
const ReferenceLoops narrow_reference = loops_of<narrow_group>, wide_reference = loops_of<wide_group>;

}  // namespace fastsvm::FASTSVM_ISA

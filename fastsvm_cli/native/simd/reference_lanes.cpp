// Compiled without contraction: a fused multiply-add rounds once where LIBSVM rounds twice.
#include "simd/loops.h"

#include <cmath>

#include "simd/glibc_exp.h"
#include "simd/library_exp.h"
#include "simd/wide.h"

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

// Rows side by side: one row's sums are dependent, different rows' are not. Leaves enough registers for the rest of a
// loop.
template <int rows> constexpr int rows_at_once = rows < 8 * doubles ? rows : 8 * doubles;

template <class V> FASTSVM_INLINE void add_square(V& sum, V x) { sum += x * x; }

bool same_indices(const LaneEntries& x, const LaneEntries& y) {
    return x.count == y.count &&
           __builtin_memcmp(x.indices, y.indices, static_cast<std::size_t>(x.count) * sizeof *x.indices) == 0;
}

template <int rows> void squared_distances(const LaneEntries& x, const LaneEntries& y, double* out) {
    constexpr int now = rows_at_once<rows>;
    typedef Wide<double, now> V;
    const bool same = same_indices(x, y);
    for (int from = 0; from < rows; from += now) {
        const double* const values = x.values + from;
        V sum = V::splat(0);
        std::int64_t i = 0, j = 0;
        if (same) {
            for (; i < x.count; ++i) add_square(sum, y.values[i] - V::load(values + i * rows));
            j = i;
        }
        while (i < x.count && j < y.count) {
            if (x.indices[i] == y.indices[j])
                add_square(sum, y.values[j++] - V::load(values + i++ * rows));
            else if (x.indices[i] > y.indices[j])
                sum = sum + y.values[j] * y.values[j], ++j;
            else
                add_square(sum, V::load(values + i++ * rows));
        }
        for (; i < x.count; ++i) add_square(sum, V::load(values + i * rows));
        for (; j < y.count; ++j) sum = sum + y.values[j] * y.values[j];
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
        std::int64_t i = 0, j = 0;
        if (same)
            for (; i < x.count; ++i) sum += V::load(values + i * rows) * y.values[i];
        while (i < x.count && j < y.count) {
            if (x.indices[i] == y.indices[j])
                sum += V::load(values + i++ * rows) * y.values[j++];
            else if (x.indices[i] > y.indices[j])
                ++j;
            else
                ++i;
        }
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

// Several registers, since each waits for its table rows.
template <bool fuse, int registers> FASTSVM_INLINE void exponentials_of(double factor, double* values) {
    vd x[registers], power[registers];
    vu near = ~vu{};
#pragma GCC unroll 4
    for (int w = 0; w < registers; ++w) {
        x[w] = factor * load(values + w * doubles);
        near &= (vu)((vd)((vu)x[w] & ~(std::uint64_t{1} << 63)) < exp_near);  // false for NaN
    }
#pragma GCC unroll 4
    for (int w = 0; w < registers; ++w) power[w] = glibc_exp<fuse>(x[w]);
#pragma GCC unroll 4
    for (int w = 0; w < registers; ++w) store(values + w * doubles, power[w]);
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

}  // namespace

extern const ReferenceLoops narrow_reference, wide_reference;
const ReferenceLoops narrow_reference = {squared_distances<narrow_group>,
                                         dots<narrow_group>,
                                         add_terms<narrow_group>,
                                         powers,
                                         exponentials<false>,
                                         fused_exp};
const ReferenceLoops wide_reference = {squared_distances<wide_group>, dots<wide_group>, add_terms<wide_group>, powers,
                                       exponentials<false>,           fused_exp};

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

// Compiled without contraction: a fused multiply-add rounds once where LIBSVM rounds twice.
#include "simd/reference_lanes.h"

#include <cmath>

#include "simd/glibc_exp.h"
#include "simd/library_exp.h"
#include "simd/registers.h"

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

// Registers of rows: one row's sums are dependent, different rows' are not.
template <int registers> struct Lanes {
    vd v[registers];
    static FASTSVM_INLINE Lanes zero() {
        Lanes x;
#pragma GCC unroll 8
        for (int w = 0; w < registers; ++w) x.v[w] = vd{};
        return x;
    }
    static FASTSVM_INLINE Lanes of(const double* p) {
        Lanes x;
#pragma GCC unroll 8
        for (int w = 0; w < registers; ++w) x.v[w] = load(p + doubles * w);
        return x;
    }
    FASTSVM_INLINE void put(double* p) const {
#pragma GCC unroll 8
        for (int w = 0; w < registers; ++w) store(p + doubles * w, v[w]);
    }
    FASTSVM_INLINE void add_products(const double* a, double b) {
#pragma GCC unroll 8
        for (int w = 0; w < registers; ++w) v[w] += load(a + doubles * w) * b;
    }
    // By y - x: the square is the same.
    FASTSVM_INLINE void add_squares(const double* x, double y) {
#pragma GCC unroll 8
        for (int w = 0; w < registers; ++w) {
            const vd d = y - load(x + doubles * w);
            v[w] += d * d;
        }
    }
    FASTSVM_INLINE void add_square(double y) {
#pragma GCC unroll 8
        for (int w = 0; w < registers; ++w) v[w] += y * y;
    }
};

// Leaves enough registers for the rest of a loop.
template <int rows> constexpr int rows_at_once = rows < 8 * doubles ? rows : 8 * doubles;

bool same_indices(const LaneEntries& x, const LaneEntries& y) {
    return x.count == y.count &&
           __builtin_memcmp(x.indices, y.indices, static_cast<std::size_t>(x.count) * sizeof *x.indices) == 0;
}

template <int rows> void squared_distances(const LaneEntries& x, const LaneEntries& y, double* out) {
    constexpr int now = rows_at_once<rows>;
    const bool same = same_indices(x, y);
    for (int from = 0; from < rows; from += now) {
        const double* const values = x.values + from;
        Lanes<now / doubles> sum = Lanes<now / doubles>::zero();
        std::int64_t i = 0, j = 0;
        if (same) {
            for (; i < x.count; ++i) sum.add_squares(values + i * rows, y.values[i]);
            j = i;
        }
        while (i < x.count && j < y.count) {
            if (x.indices[i] == y.indices[j])
                sum.add_squares(values + i++ * rows, y.values[j++]);
            else if (x.indices[i] > y.indices[j])
                sum.add_square(y.values[j++]);
            else
                sum.add_squares(values + i++ * rows, 0.0);
        }
        for (; i < x.count; ++i) sum.add_squares(values + i * rows, 0.0);
        for (; j < y.count; ++j) sum.add_square(y.values[j]);
        sum.put(out + from);
    }
}

template <int rows> void dots(const LaneEntries& x, const LaneEntries& y, double* out) {
    constexpr int now = rows_at_once<rows>;
    const bool same = same_indices(x, y);
    for (int from = 0; from < rows; from += now) {
        const double* const values = x.values + from;
        Lanes<now / doubles> sum = Lanes<now / doubles>::zero();
        std::int64_t i = 0, j = 0;
        if (same)
            for (; i < x.count; ++i) sum.add_products(values + i * rows, y.values[i]);
        while (i < x.count && j < y.count) {
            if (x.indices[i] == y.indices[j])
                sum.add_products(values + i++ * rows, y.values[j++]);
            else if (x.indices[i] > y.indices[j])
                ++j;
            else
                ++i;
        }
        sum.put(out + from);
    }
}

template <int rows>
void add_terms(std::int64_t count, const double* coef, std::int64_t stride, const double* values, double* sums) {
    constexpr int now = rows_at_once<rows>;
    for (int from = 0; from < rows; from += now) {
        Lanes<now / doubles> sum = Lanes<now / doubles>::of(sums + from);
        for (std::int64_t t = 0; t < count; ++t) sum.add_products(values + t * rows + from, coef[t * stride]);
        sum.put(sums + from);
    }
}

void powers(std::int64_t n, double gamma, double coef0, int degree, double* values) {
    constexpr int registers = reference_lanes / doubles;
    for (std::int64_t s = 0; s < n; s += reference_lanes) {
        vd base[registers], result[registers];
#pragma GCC unroll 4
        for (int w = 0; w < registers; ++w) {
            base[w] = gamma * load(values + s + w * doubles) + coef0;
            result[w] = all(1);
        }
        for (int t = degree; t > 0; t /= 2) {
#pragma GCC unroll 4
            for (int w = 0; w < registers; ++w) {
                if (t % 2 == 1) result[w] *= base[w];
                base[w] = base[w] * base[w];
            }
        }
#pragma GCC unroll 4
        for (int w = 0; w < registers; ++w) store(values + s + w * doubles, result[w]);
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

// Compiled once per instruction set, as loops.cpp is, but without contraction: a fused multiply-add rounds once where
// LIBSVM rounds twice.
#include "simd/reference_lanes.h"

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

typedef double v8 __attribute__((vector_size(64)));

// W vectors of eight rows each: sums of one row depend on each other, those of different rows do not.
template <int W> struct Lanes {
    v8 v[W];
    static Lanes load(const double* p) {
        Lanes x;
        __builtin_memcpy(x.v, p, sizeof x.v);
        return x;
    }
    void store(double* p) const { __builtin_memcpy(p, v, sizeof v); }
    void add_product(const Lanes& a, double b) {
        for (int w = 0; w < W; ++w) v[w] += a.v[w] * b;
    }
    void add_square(const Lanes& x, double y) {
        for (int w = 0; w < W; ++w) {
            const v8 d = x.v[w] - y;
            v[w] += d * d;
        }
    }
};

template <int W> void squared_distances(const LaneEntries& x, const LaneEntries& y, double* out) {
    Lanes<W> sum{};
    std::int64_t i = 0, j = 0;
    while (i < x.count && j < y.count) {
        if (x.indices[i] == y.indices[j]) {
            sum.add_square(Lanes<W>::load(x.values + i * W * 8), y.values[j]);
            ++i;
            ++j;
        } else if (x.indices[i] > y.indices[j]) {
            sum.add_square(Lanes<W>{}, y.values[j++]);
        } else {
            sum.add_square(Lanes<W>::load(x.values + i++ * W * 8), 0.0);
        }
    }
    for (; i < x.count; ++i) sum.add_square(Lanes<W>::load(x.values + i * W * 8), 0.0);
    for (; j < y.count; ++j) sum.add_square(Lanes<W>{}, y.values[j]);
    sum.store(out);
}

template <int W> void dots(const LaneEntries& x, const LaneEntries& y, double* out) {
    Lanes<W> sum{};
    std::int64_t i = 0, j = 0;
    while (i < x.count && j < y.count) {
        if (x.indices[i] == y.indices[j])
            sum.add_product(Lanes<W>::load(x.values + i++ * W * 8), y.values[j++]);
        else if (x.indices[i] > y.indices[j])
            ++j;
        else
            ++i;
    }
    sum.store(out);
}

template <int W>
void add_terms(std::int64_t count, const double* coef, std::int64_t stride, const double* values, double* sums) {
    Lanes<W> sum = Lanes<W>::load(sums);
    for (std::int64_t t = 0; t < count; ++t) sum.add_product(Lanes<W>::load(values + t * W * 8), coef[t * stride]);
    sum.store(sums);
}

}  // namespace

extern const ReferenceLoops narrow_reference, wide_reference;
const ReferenceLoops narrow_reference = {squared_distances<1>, dots<1>, add_terms<1>};
const ReferenceLoops wide_reference = {squared_distances<4>, dots<4>, add_terms<4>};

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

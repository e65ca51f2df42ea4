// The inner loops of the reference sum, many rows side by side: every lane does LIBSVM's operations on its own row, in
// LIBSVM's order, so that its number is LIBSVM's to the last bit. Compiled once per instruction set, always without
// contraction (reference_lanes.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

// A vector's entries: count indices, increasing, and their values; for a group of rows the union of the rows' indices
// and, per index, a value for each lane, 0 where a row has no entry. A zero adds nothing to a sum, so that each lane's
// sum is that of its own row.
struct LaneEntries {
    const std::int32_t* indices;
    const double* values;
    std::int64_t count;
};

// values[s] = exp(factor * values[s]) for s < n, a multiple of `reference_lanes`
using ExpLoop = void (*)(std::int64_t n, double factor, double* values);

struct ReferenceLoops {
    // out[lane] = |x - y|^2, summed up over the indices that either has, in increasing order.
    void (*squared_distances)(const LaneEntries& rows, const LaneEntries& vector, double* out);
    // out[lane] = x.y, summed up over the indices that both have, in increasing order.
    void (*dots)(const LaneEntries& rows, const LaneEntries& vector, double* out);
    // sums[lane] += coef[t * stride] * values[t][lane], t = 0, 1, ..., count - 1, one after the other.
    void (*add_terms)(std::int64_t count, const double* coef, std::int64_t stride, const double* values, double* sums);
    // values[s] = (gamma * values[s] + coef0)^degree, as LIBSVM's powi multiplies, for s < n, a multiple of
    // `reference_lanes`
    void (*powers)(std::int64_t n, double gamma, double coef0, int degree, double* values);
    // glibc's exp (glibc_exp.h), compiled without fused multiply-adds and with them; null where the instruction set has
    // none. Which one is this process's: library_exp.h.
    ExpLoop plain_exp, fused_exp;
};

constexpr int reference_lanes = 8;
constexpr int narrow_group = 8, wide_group = 32;  // rows side by side

}  // namespace fastsvm

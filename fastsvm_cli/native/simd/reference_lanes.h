// Inner loops of the reference sum: each lane does LIBSVM's operations in LIBSVM's order on its own row, so its number
// is LIBSVM's to the last bit.
#pragma once
#include <cstdint>

namespace fastsvm {

// Values with `count` increasing indices. A group of rows has the union of its indices, and per index a value per lane,
// 0 if the row lacks it: a zero adds nothing.
struct LaneEntries {
    const std::int32_t* indices;
    const double* values;
    std::int64_t count;
};

// values[s] = exp(factor * values[s]) for s < n, a multiple of `reference_lanes`.
using ExpLoop = void (*)(std::int64_t n, double factor, double* values);

struct ReferenceLoops {
    // out[lane] = |x - y|^2, summed over the indices of either.
    void (*squared_distances)(const LaneEntries& rows, const LaneEntries& vector, double* out);
    // out[lane] = x.y, summed over the indices of both.
    void (*dots)(const LaneEntries& rows, const LaneEntries& vector, double* out);
    // sums[lane] += coef[t * stride] * values[t][lane], t = 0, 1, ..., count - 1, in order.
    void (*add_terms)(std::int64_t count, const double* coef, std::int64_t stride, const double* values, double* sums);
    // values[s] = (gamma * values[s] + coef0)^degree, by LIBSVM's powi, for s < n, a multiple of `reference_lanes`.
    void (*powers)(std::int64_t n, double gamma, double coef0, int degree, double* values);
    // glibc's exp (glibc_exp.h) without and with fused multiply-adds, or null.
    ExpLoop plain_exp, fused_exp;
};

constexpr int reference_lanes = 8;
constexpr int narrow_group = 8, wide_group = 32;  // rows side by side

}  // namespace fastsvm

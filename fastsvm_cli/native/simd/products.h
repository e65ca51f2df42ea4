// Loops of inner products in single precision whose sums are in double precision.
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr int product_rows = 4;  // rows that share loaded coefficients

struct ProductLoops {
    // Adds partial sums of coef[s] * values[r * stride + s] over s < n, a multiple of eight, to sums[r * lanes + ...]
    // (B25).
    void (*add_products)(std::int64_t rows, std::int64_t n, const float* coef, const float* values, std::int64_t stride,
                         double* sums);
    // out[k * product_rows + r] = sum over s < n[k] of coef[coef_at[k] + s] * values[r][value_at[k] + s], likewise, for
    // one to product_rows rows; any n.
    void (*products)(int rows, std::int64_t count, const std::int64_t* n, const float* coef,
                     const std::int64_t* coef_at, const float* const* values, const std::int64_t* value_at,
                     double* out);
    // With coef[value_at[k] + s]; peaks[k * product_rows + r]: the largest of 0 and the values.
    void (*products_and_peaks)(int rows, std::int64_t count, const std::int64_t* n, const float* coef,
                               const float* const* values, const std::int64_t* value_at, double* out, float* peaks);
    // A centered row: out[place[c]] = factor (z[c] - center[c]) in single precision, for d columns. sums: of squares,
    // of squares times weights[c], of squared rounding errors.
    void (*center)(std::int64_t d, double factor, const double* z, const double* center, const double* weights,
                   const std::int32_t* place, float* out, double* sums);
    // Runs `times` rounds of enough independent multiply-adds to keep the processor busy; returns their number, per
    // scalar. *sum: the total.
    double (*single_multiply_adds)(std::int64_t times, double* sum);
    double (*double_multiply_adds)(std::int64_t times, double* sum);
};

}  // namespace fastsvm

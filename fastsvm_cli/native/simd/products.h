// Sums of coefficients times kernel values that were stored, and rows about a center. Compiled once per instruction set
// (products.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr int product_rows = 4;  // that meet the same coefficients, side by side

struct ProductLoops {
    // sums[r * lanes + ...] += partial sums of coef[s] * values[r * stride + s] over s < n, a multiple of eight: at
    // most four terms are added up in single precision, the rest in double.
    void (*add_products)(std::int64_t rows, std::int64_t n, const float* coef, const float* values, std::int64_t stride,
                         double* sums);
    // out[k * product_rows + r] = sum over s < n[k] of coef[coef_at[k] + s] * values[r][value_at[k] + s], likewise, for
    // one to product_rows rows; any n.
    void (*products)(int rows, std::int64_t count, const std::int64_t* n, const float* coef,
                     const std::int64_t* coef_at, const float* const* values, const std::int64_t* value_at,
                     double* out);
    // The same with coef[value_at[k] + s]; and peaks[k * product_rows + r], the largest of the values, 0 at least.
    void (*products_and_peaks)(int rows, std::int64_t count, const std::int64_t* n, const float* coef,
                               const float* const* values, const std::int64_t* value_at, double* out, float* peaks);
    // A row about a center: out[c * panel] = factor (z[c] - center[c]), rounded to single precision, for the d columns,
    // a multiple of `lanes`; sums: of their squares, of the squares times weights[c], and of the squares of what the
    // rounding took.
    void (*center)(std::int64_t d, double factor, const double* z, const double* center, const double* weights,
                   float* out, double* sums);
    // So many times as many independent multiply-adds as keep the processor busy; returns how many that is of one
    // number each. What it adds up goes to *sum.
    double (*single_multiply_adds)(std::int64_t times, double* sum);
    double (*double_multiply_adds)(std::int64_t times, double* sum);
};

}  // namespace fastsvm

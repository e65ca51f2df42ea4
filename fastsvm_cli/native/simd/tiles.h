// Register tiles: a few rows by a strip of support vectors, each number loaded once for all of them. Compiled once per
// instruction set (tiles.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr int panel = 6;  // rows to a tile; a panel of rows is (d, panel), whatever number of them there is

constexpr int product_rows = 4;  // that meet the same coefficients, side by side

// Bytes of a strip's columns that stay in a first-level cache while panels of rows pass over them.
constexpr int column_bytes = 20480;

struct TileLoops {
    // out[r * stride + s] = 2^-D, D = |z_r|^2 + |x_s|^2 - 2 z_r.x_s, for the first `rows` of a panel and the vectors of
    // a strip; 2^-126 where that is smaller. z: (d, panel), x: (d, strip); row_norms, norms: the squares. Inner
    // products are sums of sums of `piece` columns each. Where columns come in several calls, `out` holds inner
    // products in between: `first` and `last` are those calls.
    void (*single_powers)(int rows, std::int64_t d, std::int64_t piece, bool first, bool last, const float* z,
                          const float* row_norms, const float* x, const float* norms, float* out, std::int64_t stride);
    // out[r][s] = z_r.x_s likewise, in double precision, one column after the other.
    void (*double_dots)(int rows, std::int64_t d, bool first, const double* z, const double* x, double* const* out);
    // sums[r * lanes + ...] += partial sums of coef[s] * values[r * stride + s] over s < n, a multiple of 16: at most
    // four terms are added up in single precision, the rest in double.
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

// Register tiles: a few rows by a strip of support vectors, each number loaded once for all of them. Compiled once per
// instruction set (tiles.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr int panel = 6;  // rows to a tile; a panel of rows is (d, panel), whatever number of them there is

// exp(-gamma D) = 2^(-D (high + low)), taken for 0 where D > last.
struct SingleExponent {
    float high, low;  // together gamma log2(e)
    float last;       // about 126.01 / high
};

struct TileLoops {
    // out[r * stride + s] = 2^-(D (high + low)) for the first `rows` of a panel and the vectors of a strip, D =
    // max(0, row_norms[r] + norms[s] - 2 z_r.x_s); z: (d, panel), x: (d, strip). Inner products are sums of sums of
    // `piece` columns each.
    void (*single_rbf)(int rows, std::int64_t d, std::int64_t piece, const float* z, const float* row_norms,
                       const float* x, const float* norms, SingleExponent exponent, float* out, std::int64_t stride);
    // out[r][s] = z_r.x_s likewise, in double precision, one column after the other.
    void (*double_dots)(int rows, std::int64_t d, const double* z, const double* x, double* const* out);
    // sums[r * lanes + ...] += partial sums of coef[s] * values[r * stride + s] over s < n, a multiple of 16: at most
    // four terms are added up in single precision, the rest in double.
    void (*add_products)(std::int64_t rows, std::int64_t n, const float* coef, const float* values,
                         std::int64_t stride, double* sums);
    // out[c] = sum over s < n of coef[c * stride + s] * values[s], likewise; any n.
    void (*products)(std::int64_t columns, std::int64_t n, const float* coef, std::int64_t stride,
                     const float* values, double* out);
    // A row about a center: out[c * panel] = z[c] - center[c], rounded to single precision, for the d columns, a
    // multiple of `lanes`; sums: of their squares, of the squares times weights[c], and of the squares of what the
    // rounding took.
    void (*center)(std::int64_t d, const double* z, const double* center, const double* weights, float* out,
                   double* sums);
    // So many times as many independent multiply-adds as keep the processor busy; returns how many that is of one
    // number each. What it adds up goes to *sum.
    double (*single_multiply_adds)(std::int64_t times, double* sum);
    double (*double_multiply_adds)(std::int64_t times, double* sum);
};

}  // namespace fastsvm

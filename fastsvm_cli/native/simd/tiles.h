// Register tiles: a few rows by a strip of support vectors, each number loaded once for all of them. Compiled once per
// instruction set (tiles.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr int panel = 6;  // rows to a tile; a panel of rows is (d, panel), whatever number of them there is

// Bytes of a strip's columns that stay in a first-level cache while panels of rows pass over them.
constexpr int column_bytes = 20480;

struct TileLoops {
    // out[r * stride + s] = 2^-D, D = |z_r|^2 + |x_s|^2 - 2 z_r.x_s, for the first `rows` of a panel and the vectors of
    // a strip; 2^-126 where that is smaller. z: (d, panel), x: (d, strip); row_norms, norms: the squares. Inner
    // products are sums of sums of `piece` columns each. Where columns come in several calls, `out` holds inner
    // products in between: `first` and `last` are those calls.
    void (*single_powers)(int rows, std::int64_t d, std::int64_t piece, bool first, bool last, const float* z,
                          const float* row_norms, const float* x, const float* norms, float* out, std::int64_t stride);
    // sums[r * lanes + ...] += partial sums of coef[s] times the same numbers of so many strips: of at most four terms
    // in single precision, the rest in double. All columns are in one call: x is (strips, d, strip).
    void (*single_sums)(int rows, std::int64_t strips, std::int64_t d, std::int64_t piece, const float* z,
                        const float* row_norms, const float* x, const float* norms, const float* coef, double* sums);
    // out[r][s] = z_r.x_s likewise, in double precision, one column after the other.
    void (*double_dots)(int rows, std::int64_t d, bool first, const double* z, const double* x, double* const* out);
    // sums[r][...] += partial sums of coef[s] exp(-gamma max(0, |z_r|^2 + |x_s|^2 - 2 z_r.x_s)) over so many strips, in
    // double precision, d columns in one call; sums: (rows, 2, lanes). The numbers are those of double_dots and
    // rbf_from_dots, and, with the two halves added up and then the total, the sum is that of dot.
    void (*double_sums)(int rows, std::int64_t strips, std::int64_t d, double gamma, const double* z,
                        const double* row_norms, const double* x, const double* norms, const double* coef,
                        double* sums);
};

}  // namespace fastsvm

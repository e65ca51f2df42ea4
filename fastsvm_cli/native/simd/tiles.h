// Register tiles, a few rows by a panel of support vectors: each number is loaded once for all.
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr int row_panel = 6;  // rows per tile; a panel is (d, panel)

// Bytes of a panel's columns that fit a first-level cache while panels pass.
constexpr int column_bytes = 20480;

struct TileLoops {
    // out[r * stride + s] = 2^-D, D = |z_r|^2 + |x_s|^2 - 2 z_r.x_s, at least 2^-126, for a panel's first `rows` and
    // `vectors` of a panel, or a few more. z: (d, row_panel), x: (d, panel); row_norms, norms: squares. With a call per
    // block of columns, `first` to `last`, `out` holds inner products in between.
    void (*single_powers)(int rows, std::int64_t vectors, std::int64_t d, bool first, bool last, const float* z,
                          const float* row_norms, const float* x, const float* norms, float* out, std::int64_t stride);
    // Adds partial sums of coef[s] times these numbers over `panels` panels to sums[r * lanes + ...] (B25). x: (panels,
    // d, panel), all columns.
    void (*single_sums)(int rows, std::int64_t panels, std::int64_t d, const float* z, const float* row_norms,
                        const float* x, const float* norms, const float* coef, double* sums);
    // out[r][s] = z_r.x_s likewise, in double precision, column by column.
    void (*double_dots)(int rows, std::int64_t d, bool first, const double* z, const double* x, double* const* out);
    // Adds partial sums of coef[s] exp(-gamma max(0, |z_r|^2 + |x_s|^2 - 2 z_r.x_s)) to sums, (rows, 2, lanes), with
    // the numbers of double_dots and rbf_from_dots. x: (panels, d, panel). The halves added, then totalled, give dot's
    // sum.
    void (*double_sums)(int rows, std::int64_t panels, std::int64_t d, double gamma, const double* z,
                        const double* row_norms, const double* x, const double* norms, const double* coef,
                        double* sums);
};

}  // namespace fastsvm

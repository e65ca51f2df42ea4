// Vectors laid out for their kernel values with sparse rows, many vectors side by side.
#pragma once
#include <cstdint>
#include <vector>

#include "exact/kernel.h"
#include "simd/aligned.h"
#include "simd/loops.h"
#include "text/features.h"

namespace fastsvm {

// A row as the strips see it.
struct StripRow {
    Columns columns;
    double squared_norm = 0;
    double outside_norm = 0;  // of the entries that no vector has, where distances are sums of differences
    double inverse_root = 1;  // 1 / sqrt(k(z, z)) of a normalized kernel
};

// Rows whose kernel values are computed together.
struct StripRows {
    std::vector<StripRow> rows;
    std::vector<std::int64_t> in_panels, by_entry;  // which rows are computed by register tiles, and which are not
    Aligned<double> panels;                         // (panels, d, panel)
    Aligned<double> panel_norms;                    // (panels, panel): |z|^2
};

// Strips of `strip` vectors, dense by column, so that a row costs its own non-zeros times the vectors; where few of the
// vectors' entries are non-zero, the vectors' own entries.
class Strips {
public:
    // order: rows of `vectors`, -1 for padding; `strip` vectors a strip, the last one filled up. Kernels but
    // precomputed.
    Strips(const Kernel& kernel, const Rows& vectors, const std::vector<std::int64_t>& order);
    const Kernel& kernel() const { return kernel_; }
    std::int64_t size() const { return padded_; }
    void take(const Rows& rows, std::int64_t row, StripRow& out) const;
    void take(const Rows& rows, const std::int64_t* which, std::int64_t n, StripRows& out) const;
    // The row's entries by column, (features), zeros included. Returns the squared norm of those that no vector has.
    double spread(const Rows& rows, std::int64_t row, double* out) const;
    // K(z, x_s) for from <= s < to, multiples of `strip`; or of one group of `lanes`. scratch: zeros (features), left
    // so.
    void kernel_values(const StripRow& row, std::int64_t from, std::int64_t to, double* out,
                       std::vector<double>& scratch) const;
    // Of the rows in panels: out[r * stride + s - from]. A row's values do not depend on the rows beside it.
    void panel_kernel_values(const StripRows& rows, std::int64_t from, std::int64_t to, double* out,
                             std::int64_t stride) const;
    // Whether panel_sums can be had: RBF kernels of vectors of no more than a few hundred columns.
    bool sums_in_panels() const;
    // Of the rows in panels, in their order: out[i] = sum of coef[s - from] K, the values of panel_kernel_values added
    // up as Loops::dot does.
    void panel_sums(const StripRows& rows, std::int64_t from, std::int64_t to, const double* coef, double* out) const;
    // |z - x_s|^2 likewise.
    void squared_distances(const StripRow& row, std::int64_t from, std::int64_t to, double* out,
                           std::vector<double>& scratch) const;
    bool dense() const { return dense_; }
    std::int64_t features() const { return features_.size(); }
    // Vector s and those behind it in its strip, by column, `strip` apart; when dense.
    const double* columns_from(std::int64_t s) const {
        return blocks_.data() + s / strip * strip * features_.size() + s % strip;
    }
    // The column of a LIBSVM index, or -1.
    std::int32_t column(std::int32_t index) const { return features_.column(index); }

private:
    void dots(const StripRow& row, std::int64_t from, std::int64_t to, double* out, std::vector<double>& scratch) const;
    void from_dots(const StripRow& row, std::int64_t from, std::int64_t to, double* out) const;
    Kernel kernel_;
    Features features_;
    std::int64_t padded_ = 0;
    bool dense_ = true;
    Aligned<double> norms_;              // (padded): |x|^2, 0 in the padding
    std::vector<double> inverse_roots_;  // (padded): 1 / sqrt(k(x, x)) of a normalized kernel
    Aligned<double> blocks_;             // (strips, d, strip)
    std::vector<std::int64_t> start_;    // (padded + 1) when sparse
    std::vector<std::int32_t> column_;
    std::vector<double> value_;
};

// Above this share of non-zeros, strips are dense: a product elsewhere costs about eight done side by side.
constexpr double sparse_density = 1.0 / 16;
inline bool dense(const Rows& vectors, std::int64_t features) {
    return static_cast<double>(vectors.indices.size()) >=
           sparse_density * static_cast<double>(vectors.rows) * static_cast<double>(features);
}
// Whether a row of so many entries meets dense strips in register tiles, rather than entry by entry.
bool in_tiles(double entries, std::int64_t features);
// Vectors whose strips stay in the first-level cache while the rows of a block pass over them, and their kernel values
// in the second.
std::int64_t vectors_per_tile(std::int64_t features);
// 0, 1, ..., n - 1, and -1 up to a whole strip: n vectors as they stand.
std::vector<std::int64_t> in_order(std::int64_t n);
// The LIBSVM indices that occur in a block of vectors, increasing.
std::vector<std::int32_t> used_indices(const Rows& vectors);

}  // namespace fastsvm

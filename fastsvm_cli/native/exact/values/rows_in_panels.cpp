#include "exact/values/rows_in_panels.h"

#include <algorithm>
#include <cmath>

namespace fastsvm {

RowsInPanels::RowsInPanels(const Panels& vectors)
    : vectors_(vectors), kernel_(vectors.kernel()), features_(vectors.features()) {}

void RowsInPanels::clear(const Rows& rows) {
    rows_ = &rows;
    size_ = 0;
}

void RowsInPanels::add(std::int64_t row) {
    const std::int64_t slot = size_++;
    if (slot == static_cast<std::int64_t>(row_.size())) {
        row_.resize(static_cast<std::size_t>(slot + panel));
        norms_.resize(row_.size(), 0.0);
        if (kernel_.by_differences()) outside_.resize(row_.size(), 0.0);
        if (kernel_.normalized()) inverse_roots_.resize(row_.size(), 0.0);
        if (vectors_.dense()) z_.resize(slot + panel, features_);
    }
    double* const z = vectors_.dense() ? z_.at(slot, 0) : nullptr;  // null too if no vector has an entry
    if (vectors_.dense() && slot % panel == 0) std::fill_n(z, features_ * panel, 0.0);
    row_[slot] = row;
    norms_[slot] = rows_->squared_norms[row];
    if (!inverse_roots_.empty()) inverse_roots_[slot] = 1 / std::sqrt(kernel_.before_normalization(norms_[slot]));
    double outside = 0;
    if (vectors_.dense())
        for (std::int64_t e = rows_->begin(row); e < rows_->end(row); ++e) {
            const std::int32_t column = vectors_.column(rows_->indices[e]);
            if (column >= 0)
                z[column * panel] = rows_->values[e];
            else
                outside += rows_->values[e] * rows_->values[e];
        }
    if (!outside_.empty()) outside_[slot] = outside;
}

void RowsInPanels::remove(std::int64_t slot) {
    const std::int64_t last = --size_;
    if (slot == last) return;
    if (vectors_.dense()) {
        double* const to = z_.at(slot, 0);
        const double* const from = z_.at(last, 0);
        for (std::int64_t column = 0; column < features_; ++column) to[column * panel] = from[column * panel];
    }
    row_[slot] = row_[last];
    norms_[slot] = norms_[last];
    if (!outside_.empty()) outside_[slot] = outside_[last];
    if (!inverse_roots_.empty()) inverse_roots_[slot] = inverse_roots_[last];
}

void RowsInPanels::scatter(const PreparedRow& x, double factor) {
    scratch_.resize(static_cast<std::size_t>(features_), 0.0);
    for (std::int64_t e = 0; e < x.columns.count(); ++e) scratch_[x.columns.column[e]] = factor * x.columns.value[e];
}

// Loads dominate: with four vectors, a column takes one per vector and two for rows; alone, an entry takes four.
bool RowsInPanels::by_column(int count, std::int64_t entries, std::int64_t features) {
    return 4 * entries > features * (count + 2);
}

void RowsInPanels::dots(const Vectors& x, double* out, std::int64_t stride) {
    const Loops& k = loops();
    if (vectors_.dense()) {
        std::int64_t entries = 0;
        for (int v = 0; v < x.count; ++v) entries += x.rows[v]->columns.count();
        if (x.columns[0] && by_column(x.count, entries, features_)) {
            for (std::int64_t at = 0; at < size_; at += panel, out += stride)
                k.tile_dots(x.count, filled(at), features_, z_.at(at, 0), x.columns, x.stride, out);
            return;
        }
        for (std::int64_t at = 0; at < size_; at += panel, out += stride)
            for (int v = 0; v < x.count; ++v) {
                const Columns& own = x.rows[v]->columns;
                k.part_dots(z_.at(at, 0), filled(at), own.count(), own.column.data(), own.value.data(),
                            out + v * panel);
            }
        return;
    }
    for (int v = 0; v < x.count; ++v) {
        scatter(*x.rows[v], 1);
        for (std::int64_t slot = 0; slot < size_; ++slot) {
            double sum = 0;
            for (std::int64_t e = rows_->begin(row_[slot]); e < rows_->end(row_[slot]); ++e) {
                const std::int32_t column = vectors_.column(rows_->indices[e]);
                if (column >= 0) sum += rows_->values[e] * scratch_[column];
            }
            out[slot / panel * stride + v * panel + slot % panel] = sum;
        }
        scatter(*x.rows[v], 0);
    }
}

void RowsInPanels::squared_distances(const Vectors& x, double* out, std::int64_t stride) {
    const bool by_differences = kernel_.by_differences() && vectors_.dense();  // keeps every digit (kernel.h)
    if (!by_differences) dots(x, out, stride);
    for (int v = 0; v < x.count; ++v) {
        if (by_differences) scatter(*x.rows[v], 1);
        for (std::int64_t at = 0; at < size_; at += panel) {
            double* const to = out + at / panel * stride + v * panel;
            if (by_differences) {
                loops().panel_distances(z_.at(at, 0), features_, scratch_.data(), x.rows[v]->outside_norm, to);
                for (std::int64_t s = 0; s < panel; ++s) to[s] += outside_[at + s];
            } else {
                for (std::int64_t s = 0; s < filled(at); ++s)
                    to[s] = std::max(0.0, (norms_[at + s] + x.rows[v]->squared_norm) - 2 * to[s]);
            }
        }
        if (by_differences) scatter(*x.rows[v], 0);
    }
}

void RowsInPanels::kernel_values(const Vectors& x, double* out, std::int64_t stride) {
    const bool by_differences = kernel_.by_differences();
    if (by_differences)
        squared_distances(x, out, stride);
    else
        dots(x, out, stride);
    for (int v = 0; v < x.count; ++v)
        for (std::int64_t at = 0; at < size_; at += panel) {
            double* const to = out + at / panel * stride + v * panel;
            if (by_differences)
                kernel_from_squared_distances(kernel_, filled(at), to);
            else
                kernel_from_dots(kernel_, filled(at), x.rows[v]->squared_norm, norms_.data() + at,
                                 x.rows[v]->inverse_root, inverse_roots_.data() + (inverse_roots_.empty() ? 0 : at),
                                 to);
        }
}

}  // namespace fastsvm

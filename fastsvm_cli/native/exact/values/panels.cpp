#include "exact/values/panels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "exact/escalation.h"

namespace fastsvm {

namespace {
// Columns of a panel in a first-level cache.
constexpr std::int64_t columns_that_fit = column_bytes / (panel * static_cast<std::int64_t>(sizeof(double)));
// For sums: a few registers of a panel fit that cache; the rest is near.
constexpr std::int64_t columns_of_sums = 4 * columns_that_fit;

// Writes a row's numbers times `factor` by column, (features).
void scatter(const Columns& row, double factor, std::int64_t features, std::vector<double>& out) {
    out.resize(static_cast<std::size_t>(features), 0.0);
    for (std::int64_t e = 0; e < row.count(); ++e) out[row.column[e]] = factor * row.value[e];
}
}  // namespace

std::vector<std::int32_t> used_indices(const Rows& vectors) {
    constexpr std::int32_t table_max = 1 << 22;
    const std::int32_t* const indices = vectors.indices.data();
    const std::int64_t n = vectors.indices.size();
    std::vector<std::int32_t> all;
    if (vectors.max_index < table_max) {
        std::vector<char> seen(static_cast<std::size_t>(vectors.max_index) + 1, 0);
        for (std::int64_t e = 0; e < n; ++e) seen[indices[e]] = 1;
        for (std::int32_t i = 0; i <= vectors.max_index; ++i)
            if (seen[i]) all.push_back(i);
        return all;
    }
    all.assign(indices, indices + n);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

double spread(const Features& features, const Rows& rows, std::int64_t row, double* out, std::int64_t apart) {
    double outside = 0;
    for (std::int64_t e = rows.begin(row); e < rows.end(row); ++e) {
        const std::int32_t column = features.column(rows.indices[e]);
        if (column >= 0)
            out[column * apart] = rows.values[e];
        else
            outside += rows.values[e] * rows.values[e];
    }
    return outside;
}

bool in_tiles(double entries, std::int64_t features) {
    const LevelCosts& costs = level_costs();
    return costs.tiles.of(static_cast<double>(features)) < costs.entries.of(entries);
}

std::int64_t vectors_per_tile(std::int64_t features) {
    return std::clamp<std::int64_t>(20000 / (std::max<std::int64_t>(features, 1) * panel * 8), 1, 16) * panel;
}

std::vector<std::int64_t> in_order(std::int64_t n) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    order.resize(static_cast<std::size_t>(whole(n, panel)), -1);
    return order;
}

Panels::Panels(const Kernel& kernel, const Rows& vectors, const std::vector<std::int64_t>& order)
    : kernel_(kernel), features_(used_indices(vectors)) {
    const std::int64_t d = features_.size(), n = static_cast<std::int64_t>(order.size());
    padded_ = whole(n, panel);
    dense_ = fastsvm::dense(vectors, d);
    norms_.assign(static_cast<std::size_t>(padded_), 0.0);
    if (kernel_.normalized()) inverse_roots_.assign(static_cast<std::size_t>(padded_), 0.0);
    for (std::int64_t s = 0; s < n; ++s) {
        if (order[s] < 0) continue;
        norms_[s] = vectors.squared_norms[order[s]];
        if (!inverse_roots_.empty()) inverse_roots_[s] = 1 / std::sqrt(kernel_.before_normalization(norms_[s]));
    }
    if (dense_) {
        blocks_.assign(padded_, d);
        for (std::int64_t s = 0; s < n; ++s)
            if (order[s] >= 0) spread(features_, vectors, order[s], blocks_.at(s, 0), panel);
        return;
    }
    start_.push_back(0);
    for (std::int64_t s = 0; s < padded_; ++s) {
        if (s < n && order[s] >= 0)
            for (std::int64_t e = vectors.begin(order[s]); e < vectors.end(order[s]); ++e) {
                column_.push_back(features_.column(vectors.indices[e]));
                value_.push_back(vectors.values[e]);
            }
        start_.push_back(static_cast<std::int64_t>(column_.size()));
    }
}

void Panels::take(const Rows& rows, std::int64_t row, PreparedRow& out) const {
    const std::int64_t begin = rows.begin(row), count = rows.end(row) - begin;
    out.columns.take(features_, rows, row);
    out.squared_norm = rows.squared_norms[row];
    if (kernel_.by_differences()) {
        out.outside_norm = 0;
        if (out.columns.count() < count)
            for (std::int64_t e = begin; e < begin + count; ++e)
                if (features_.column(rows.indices[e]) < 0) out.outside_norm += rows.values[e] * rows.values[e];
    }
    if (kernel_.normalized()) out.inverse_root = 1 / std::sqrt(kernel_.before_normalization(out.squared_norm));
}

void Panels::take(const Rows& rows, const std::int64_t* which, std::int64_t n, PreparedRows& out) const {
    const std::int64_t d = features_.size();
    if (static_cast<std::int64_t>(out.rows.size()) < n) out.rows.resize(static_cast<std::size_t>(n));
    out.in_row_panels.clear();
    out.by_entry.clear();
    for (std::int64_t r = 0; r < n; ++r) {
        take(rows, which[r], out.rows[r]);
        const bool full =
            dense_ && !kernel_.by_differences() && in_tiles(static_cast<double>(out.rows[r].columns.count()), d);
        (full ? out.in_row_panels : out.by_entry).push_back(r);
    }
    const std::int64_t m = static_cast<std::int64_t>(out.in_row_panels.size());
    out.row_panels.assign(m, d);
    out.row_panel_norms.assign(static_cast<std::size_t>(whole(m, row_panel)), 0.0);
    for (std::int64_t i = 0; i < m; ++i) {
        out.row_panel_norms[i] = out.rows[out.in_row_panels[i]].squared_norm;
        const Columns& z = out.rows[out.in_row_panels[i]].columns;
        double* const to = out.row_panels.at(i, 0);
        for (std::int64_t e = 0; e < z.count(); ++e) to[z.column[e] * row_panel] = z.value[e];
    }
}

void Panels::dots(const PreparedRow& row, std::int64_t from, std::int64_t to, double* out,
                  std::vector<double>& scratch) const {
    const Columns& z = row.columns;
    if (dense_) {
        for (std::int64_t s = from; s < to; s += panel)
            loops().panel_dots(columns_from(s), z.count(), z.column.data(), z.value.data(), out + (s - from));
        return;
    }
    scatter(z, 1, features_.size(), scratch);
    for (std::int64_t s = from; s < to; ++s) {
        double sum = 0;
        for (std::int64_t e = start_[s]; e < start_[s + 1]; ++e) sum += value_[e] * scratch[column_[e]];
        out[s - from] = sum;
    }
    scatter(z, 0, features_.size(), scratch);
}

// For kernels by differences.
void Panels::squared_distances(const PreparedRow& row, std::int64_t from, std::int64_t to, double* out,
                               std::vector<double>& scratch) const {
    const std::int64_t d = features_.size();
    if (dense_) {  // keeps every digit (reference.h)
        scatter(row.columns, 1, d, scratch);
        for (std::int64_t s = from; s < to; s += panel)
            loops().panel_distances(columns_from(s), d, scratch.data(), row.outside_norm, out + (s - from));
        scatter(row.columns, 0, d, scratch);
        return;
    }
    dots(row, from, to, out, scratch);
    for (std::int64_t s = from; s < to; ++s)
        out[s - from] = std::max(0.0, (row.squared_norm + norms_[s]) - 2 * out[s - from]);
}

void Panels::row_panel_kernel_values(const PreparedRows& rows, std::int64_t from, std::int64_t to, double* out,
                                     std::int64_t stride) const {
    const std::int64_t d = features_.size(), m = static_cast<std::int64_t>(rows.in_row_panels.size());
    for (std::size_t i = 0; d == 0 && i < rows.in_row_panels.size(); ++i)  // no vector has an entry
        std::fill_n(out + rows.in_row_panels[i] * stride, to - from, 0.0);
    for (std::int64_t s = from; m && s < to; s += panel)
        for (std::int64_t c = 0; c < d; c += columns_that_fit)
            for (std::int64_t i = 0; i < m; i += row_panel) {
                const int count = static_cast<int>(std::min<std::int64_t>(row_panel, m - i));
                double* at[row_panel];
                for (int r = 0; r < count; ++r) at[r] = out + rows.in_row_panels[i + r] * stride + (s - from);
                loops().tiles->double_dots(count, std::min(columns_that_fit, d - c), c == 0, rows.row_panels.at(i, c),
                                           blocks_.at(s, c), at);
            }
    for (std::int64_t r : rows.in_row_panels) from_dots(rows.rows[r], from, to, out + r * stride);
}

bool Panels::sums_in_row_panels() const {
    return kernel_.type == KernelType::rbf && dense_ && features_.size() <= columns_of_sums;
}

void Panels::row_panel_sums(const PreparedRows& rows, std::int64_t from, std::int64_t to, const double* coef,
                            double* out) const {
    const std::int64_t d = features_.size(), m = static_cast<std::int64_t>(rows.in_row_panels.size());
    for (std::int64_t i = 0; i < m; i += row_panel) {
        const int count = static_cast<int>(std::min<std::int64_t>(row_panel, m - i));
        double sums[row_panel][2][lanes] = {};
        loops().tiles->double_sums(count, (to - from) / panel, d, kernel_.gamma, rows.row_panels.at(i, 0),
                                   rows.row_panel_norms.data() + i, columns_from(from), norms_.data() + from, coef,
                                   &sums[0][0][0]);
        for (int r = 0; r < count; ++r) {
            double* const s = sums[r][0];
            for (int l = 0; l < lanes; ++l) s[l] += sums[r][1][l];
            out[i + r] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
        }
    }
}

void Panels::from_dots(const PreparedRow& row, std::int64_t from, std::int64_t to, double* out) const {
    kernel_from_dots(kernel_, to - from, row.squared_norm, norms_.data() + from, row.inverse_root,
                     inverse_roots_.data() + (inverse_roots_.empty() ? 0 : from), out);
}

void Panels::kernel_values(const PreparedRow& row, std::int64_t from, std::int64_t to, double* out,
                           std::vector<double>& scratch) const {
    if (kernel_.by_differences()) {
        squared_distances(row, from, to, out, scratch);
        return kernel_from_squared_distances(kernel_, to - from, out);
    }
    dots(row, from, to, out, scratch);
    from_dots(row, from, to, out);
}

ColumnLists::ColumnLists(const Kernel& kernel, const Rows& vectors, const Features& features,
                         const std::vector<std::int64_t>& order)
    : kernel_(kernel), norms_(order.size(), 0.0), start_(static_cast<std::size_t>(features.size()) + 1, 0) {
    std::int64_t entries = 0;
    for (std::int64_t i : order)
        for (std::int64_t e = i < 0 ? 0 : vectors.begin(i); i >= 0 && e < vectors.end(i); ++e, ++entries)
            ++start_[features.column(vectors.indices[e]) + 1];
    for (std::int64_t j = 0; j < features.size(); ++j) start_[j + 1] += start_[j];
    vector_.resize(static_cast<std::size_t>(entries));
    value_.resize(static_cast<std::size_t>(entries));
    std::vector<std::int64_t> at(start_.begin(), start_.end() - 1);
    for (std::size_t s = 0; s < order.size(); ++s) {
        const std::int64_t i = order[s];
        if (i < 0) continue;
        norms_[s] = vectors.squared_norms[i];
        for (std::int64_t e = vectors.begin(i); e < vectors.end(i); ++e) {
            const std::int64_t to = at[features.column(vectors.indices[e])]++;
            vector_[to] = static_cast<std::int32_t>(s);
            value_[to] = vectors.values[e];
        }
    }
}

void ColumnLists::kernel_values(const Columns& row, double squared_norm, double* out) const {
    std::fill_n(out, size(), 0.0);
    for (std::int64_t e = 0; e < row.count(); ++e) {
        const double x = row.value[e];
        const std::int64_t stop = start_[row.column[e] + 1];
        for (std::int64_t i = start_[row.column[e]]; i < stop; ++i) out[vector_[i]] += x * value_[i];
    }
    kernel_from_dots(kernel_, size(), squared_norm, norms_.data(), 1, nullptr, out);
}

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
    const double outside = vectors_.dense() ? spread(vectors_.known(), *rows_, row, z, panel) : 0;
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
        scatter(x.rows[v]->columns, 1, features_, scratch_);
        for (std::int64_t slot = 0; slot < size_; ++slot) {
            double sum = 0;
            for (std::int64_t e = rows_->begin(row_[slot]); e < rows_->end(row_[slot]); ++e) {
                const std::int32_t column = vectors_.known().column(rows_->indices[e]);
                if (column >= 0) sum += rows_->values[e] * scratch_[column];
            }
            out[slot / panel * stride + v * panel + slot % panel] = sum;
        }
        scatter(x.rows[v]->columns, 0, features_, scratch_);
    }
}

void RowsInPanels::squared_distances(const Vectors& x, double* out, std::int64_t stride) {
    const bool by_differences = kernel_.by_differences() && vectors_.dense();  // keeps every digit (reference.h)
    if (!by_differences) dots(x, out, stride);
    for (int v = 0; v < x.count; ++v) {
        if (by_differences) scatter(x.rows[v]->columns, 1, features_, scratch_);
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
        if (by_differences) scatter(x.rows[v]->columns, 0, features_, scratch_);
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

#include "exact/strips.h"

#include <algorithm>
#include <cmath>

namespace fastsvm {

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

namespace {
double power(double base, int degree) {
    double result = 1;
    for (int t = degree; t > 0; t /= 2) {
        if (t % 2 == 1) result *= base;
        base *= base;
    }
    return result;
}
}  // namespace

Strips::Strips(const Machine& machine, const Rows& vectors, const std::vector<std::int64_t>& order)
    : kernel_(machine.kernel),
      gamma_(machine.gamma),
      coef0_(machine.coef0),
      degree_(machine.degree),
      features_(used_indices(vectors)) {
    const std::int64_t d = features_.size(), n = static_cast<std::int64_t>(order.size());
    padded_ = (n + strip - 1) / strip * strip;
    dense_ = static_cast<double>(vectors.indices.size()) >=
             sparse_density * static_cast<double>(vectors.rows) * static_cast<double>(d);
    norms_.assign(static_cast<std::size_t>(padded_), 0.0);
    if (kernel_ == KernelType::normalized_polynomial) inverse_self_.assign(static_cast<std::size_t>(padded_), 0.0);
    for (std::int64_t s = 0; s < n; ++s) {
        if (order[s] < 0) continue;
        norms_[s] = vectors.squared_norms[order[s]];
        if (!inverse_self_.empty()) inverse_self_[s] = 1 / std::sqrt(self(norms_[s]));
    }
    if (dense_) {
        blocks_.assign(static_cast<std::size_t>(padded_ * d), 0.0);
        for (std::int64_t s = 0; s < n; ++s)
            for (std::int64_t e = order[s] < 0 ? 0 : vectors.begin(order[s]);
                 order[s] >= 0 && e < vectors.end(order[s]); ++e)
                blocks_[(s / strip * d + features_.column(vectors.indices[e])) * strip + s % strip] = vectors.values[e];
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

void Strips::take(const Rows& rows, std::int64_t row, StripRow& out) const {
    const std::int64_t begin = rows.begin(row), count = rows.end(row) - begin;
    out.columns.take(features_, rows.indices.data() + begin, rows.values.data() + begin, count);
    out.squared_norm = rows.squared_norms[row];
    if (kernel_ == KernelType::exponential) {
        out.outside_norm = 0;
        if (out.columns.count() < count)
            for (std::int64_t e = begin; e < begin + count; ++e)
                if (features_.column(rows.indices[e]) < 0) out.outside_norm += rows.values[e] * rows.values[e];
    }
    if (kernel_ == KernelType::normalized_polynomial) out.self = self(out.squared_norm);
}

double Strips::self(double squared_norm) const { return power(gamma_ * squared_norm + coef0_, degree_); }

double Strips::spread(const Rows& rows, std::int64_t row, double* out) const {
    std::fill_n(out, features_.size(), 0.0);
    double outside = 0;
    for (std::int64_t e = rows.begin(row); e < rows.end(row); ++e) {
        const std::int32_t column = features_.column(rows.indices[e]);
        if (column >= 0)
            out[column] = rows.values[e];
        else
            outside += rows.values[e] * rows.values[e];
    }
    return outside;
}

void Strips::dots(const StripRow& row, std::int64_t from, std::int64_t to, double* out,
                  std::vector<double>& scratch) const {
    const std::int64_t d = features_.size();
    const Columns& z = row.columns;
    if (dense_ && to - from == lanes)
        return kernels().lane_dots(blocks_.data() + from / strip * strip * d + from % strip, z.count(), z.column.data(),
                                   z.value.data(), out);
    if (dense_) {
        for (std::int64_t s = from; s < to; s += strip)
            kernels().strip_dots(blocks_.data() + s * d, z.count(), z.column.data(), z.value.data(), out + (s - from));
        return;
    }
    scratch.resize(static_cast<std::size_t>(d), 0.0);
    for (std::int64_t e = 0; e < z.count(); ++e) scratch[z.column[e]] = z.value[e];
    for (std::int64_t s = from; s < to; ++s) {
        double sum = 0;
        for (std::int64_t e = start_[s]; e < start_[s + 1]; ++e) sum += value_[e] * scratch[column_[e]];
        out[s - from] = sum;
    }
    for (std::int64_t e = 0; e < z.count(); ++e) scratch[z.column[e]] = 0;
}

void Strips::squared_distances(const StripRow& row, std::int64_t from, std::int64_t to, double* out,
                               std::vector<double>& scratch) const {
    const std::int64_t d = features_.size();
    if (kernel_ == KernelType::exponential &&
        dense_) {  // a difference keeps every digit, which the square root would halve
        scratch.resize(static_cast<std::size_t>(d), 0.0);
        const Columns& z = row.columns;
        for (std::int64_t e = 0; e < z.count(); ++e) scratch[z.column[e]] = z.value[e];
        if (to - from == lanes)
            kernels().lane_distances(blocks_.data() + from / strip * strip * d + from % strip, d, scratch.data(),
                                     row.outside_norm, out);
        for (std::int64_t s = from; to - from > lanes && s < to; s += strip)
            kernels().strip_distances(blocks_.data() + s * d, d, scratch.data(), row.outside_norm, out + (s - from));
        for (std::int64_t e = 0; e < z.count(); ++e) scratch[z.column[e]] = 0;
        return;
    }
    dots(row, from, to, out, scratch);
    for (std::int64_t s = from; s < to; ++s)
        out[s - from] = std::max(0.0, (row.squared_norm + norms_[s]) - 2 * out[s - from]);
}

void Strips::kernel_values(const StripRow& row, std::int64_t from, std::int64_t to, double* out,
                           std::vector<double>& scratch) const {
    const std::int64_t n = to - from;
    const Kernels& k = kernels();
    if (kernel_ == KernelType::exponential) {
        squared_distances(row, from, to, out, scratch);
        for (std::int64_t s = 0; s < n; ++s) out[s] = std::sqrt(out[s]);
        return k.exp_of_norms(n, gamma_, out);
    }
    dots(row, from, to, out, scratch);
    switch (kernel_) {
        case KernelType::rbf: return k.rbf_from_dots(n, gamma_, row.squared_norm, norms_.data() + from, out);
        case KernelType::polynomial: return k.polynomial_from_dots(n, gamma_, coef0_, degree_, out);
        case KernelType::sigmoid:
            for (std::int64_t s = 0; s < n; ++s) out[s] = std::tanh(gamma_ * out[s] + coef0_);
            return;
        case KernelType::normalized_polynomial: {
            k.polynomial_from_dots(n, gamma_, coef0_, degree_, out);
            const double scale = 1 / std::sqrt(row.self);
            for (std::int64_t s = 0; s < n; ++s) out[s] *= scale * inverse_self_[from + s];
            return;
        }
        case KernelType::linear:
        case KernelType::precomputed:
        case KernelType::exponential: return;
    }
}

}  // namespace fastsvm

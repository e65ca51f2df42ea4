#include "exact.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "kernels.h"
#include "parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t block_rows = 64;
}  // namespace

Exact::Exact(Machine machine) : machine_(std::move(machine)), features_(used_indices(*machine_.vectors)) {
    const double entries = static_cast<double>(machine_.vectors->indices.size());
    if (machine_.kernel == KernelType::linear && static_cast<double>(machine_.pairs()) * static_cast<double>(features_.size()) <= std::max(4 * entries, 3e7)) fold_linear();
    else if (machine_.kernel != KernelType::precomputed) lay_out();
    rounding_.emplace(machine_, strips_ && strips_->dense(), linear_);
}

void Exact::fold_linear() {
    linear_ = true;
    const Rows& sv = *machine_.vectors;
    const std::int64_t pairs = machine_.pairs();
    weights_.assign(static_cast<std::size_t>(features_.size() * pairs), 0.0);
    std::int64_t i = 0;
    for (std::int64_t c = 0; c < machine_.classes(); ++c)
        for (std::int64_t k = 0; k < machine_.nr_sv[c]; ++k, ++i)
            for (std::int64_t e = sv.begin(i); e < sv.end(i); ++e) {
                double* const w = weights_.data() + features_.column(sv.indices[e]) * pairs;
                for_each_pair(machine_, c, [&](std::int64_t pair, std::int64_t column) { w[pair] += sv.labels[i * sv.leading + column] * sv.values[e]; });
            }
}

void Exact::lay_out() {
    const Rows& sv = *machine_.vectors;
    const std::int64_t d = features_.size();
    class_start_.push_back(0);
    for (std::int64_t n : machine_.nr_sv) class_start_.push_back(class_start_.back() + (n + strip - 1) / strip * strip);
    padded_ = class_start_.back();
    std::vector<std::int64_t> order(static_cast<std::size_t>(padded_), -1), place;  // and the place of each support vector in it
    for (std::size_t c = 0; c < machine_.nr_sv.size(); ++c)
        for (std::int64_t k = 0; k < machine_.nr_sv[c]; ++k) {
            order[class_start_[c] + k] = static_cast<std::int64_t>(place.size());
            place.push_back(class_start_[c] + k);
        }
    coef_.assign(static_cast<std::size_t>(padded_ * sv.leading), 0.0);
    for (std::int64_t i = 0; i < sv.rows; ++i)
        for (int j = 0; j < sv.leading; ++j) coef_[j * padded_ + place[i]] = sv.labels[i * sv.leading + j];
    const bool dense = static_cast<double>(sv.indices.size()) >= sparse_density * static_cast<double>(sv.rows) * static_cast<double>(d);
    if (dense || machine_.kernel == KernelType::exponential || machine_.kernel == KernelType::normalized_polynomial) {
        strips_.emplace(machine_, sv, order);
        return;
    }
    norms_.assign(padded_, 0.0);
    for (std::int64_t i = 0; i < sv.rows; ++i) norms_[place[i]] = sv.squared_norms[i];
    list_start_.assign(d + 1, 0);
    for (std::int64_t e = 0; e < sv.indices.size(); ++e) ++list_start_[features_.column(sv.indices[e]) + 1];
    for (std::int64_t j = 0; j < d; ++j) list_start_[j + 1] += list_start_[j];
    list_vector_.resize(sv.indices.size());
    list_value_.resize(sv.indices.size());
    std::vector<std::int64_t> at(list_start_.begin(), list_start_.end() - 1);
    for (std::int64_t i = 0; i < sv.rows; ++i)
        for (std::int64_t e = sv.begin(i); e < sv.end(i); ++e) {
            const std::int64_t to = at[features_.column(sv.indices[e])]++;
            list_vector_[to] = static_cast<std::int32_t>(place[i]);
            list_value_[to] = sv.values[e];
        }
}

void Exact::kernel_from_dots(std::int64_t n, double squared_norm, const double* norms, double* values) const {
    switch (machine_.kernel) {
        case KernelType::rbf: return kernels().rbf_from_dots(n, machine_.gamma, squared_norm, norms, values);
        case KernelType::polynomial: return kernels().polynomial_from_dots(n, machine_.gamma, machine_.coef0, machine_.degree, values);
        case KernelType::sigmoid:
            for (std::int64_t s = 0; s < n; ++s) values[s] = std::tanh(machine_.gamma * values[s] + machine_.coef0);
            return;
        default: return;
    }
}

// Adds the terms of the padded support vectors [from, to) to a row's values.
void Exact::accumulate(std::int64_t from, std::int64_t to, const double* kernel_values, double* value) const {
    const Kernels& k = kernels();
    std::int64_t c = std::upper_bound(class_start_.begin(), class_start_.end(), from) - class_start_.begin() - 1;
    for (; from < to; ++c) {
        const std::int64_t stop = std::min(to, class_start_[c + 1]);
        if (stop > from)
            for_each_pair(machine_, c, [&](std::int64_t pair, std::int64_t column) {
                value[pair] += k.dot(stop - from, coef_.data() + column * padded_ + from, kernel_values);
            });
        kernel_values += stop - from;
        from = stop;
    }
}

struct Exact::Block {
    std::vector<Columns> columns;
    std::vector<StripRow> rows;
    std::vector<double> kernel_values, scratch;
};

void Exact::evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, double* value) const {
    const std::int64_t n = last - first, d = features_.size(), pairs = machine_.pairs();
    std::fill_n(value, n * pairs, 0.0);
    if (strips_) {
        block.rows.resize(block_rows);
        for (std::int64_t r = 0; r < n; ++r) strips_->take(rows, first + r, block.rows[r]);
        // A tile of strips stays in the first-level cache while the rows of the block pass over it.
        const std::int64_t tile = std::clamp<std::int64_t>(20000 / (std::max<std::int64_t>(d, 1) * strip * 8), 1, 16) * strip;
        block.kernel_values.resize(tile);
        for (std::int64_t from = 0; from < padded_; from += tile) {
            const std::int64_t to = std::min(padded_, from + tile);
            for (std::int64_t r = 0; r < n; ++r) {
                strips_->kernel_values(block.rows[r], from, to, block.kernel_values.data(), block.scratch);
                accumulate(from, to, block.kernel_values.data(), value + r * pairs);
            }
        }
        return;
    }
    block.columns.resize(block_rows);
    for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t begin = rows.begin(first + r);
        block.columns[r].take(features_, rows.indices.data() + begin, rows.values.data() + begin, rows.end(first + r) - begin);
    }
    if (linear_) {
        for (std::int64_t r = 0; r < n; ++r)
            for (std::int64_t e = 0; e < block.columns[r].count(); ++e)
                kernels().add_scaled(pairs, block.columns[r].value[e], weights_.data() + block.columns[r].column[e] * pairs, value + r * pairs);
        return;
    }
    block.kernel_values.resize(padded_);
    double* const values = block.kernel_values.data();
    for (std::int64_t r = 0; r < n; ++r) {
        std::fill(values, values + padded_, 0.0);
        const Columns& row = block.columns[r];
        for (std::int64_t e = 0; e < row.count(); ++e)
            for (std::int64_t i = list_start_[row.column[e]]; i < list_start_[row.column[e] + 1]; ++i)
                values[list_vector_[i]] += row.value[e] * list_value_[i];
        kernel_from_dots(padded_, rows.squared_norms[first + r], norms_.data(), values);
        accumulate(0, padded_, values, value + r * pairs);
    }
}

void Exact::fast_values(const Rows& rows, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t pairs = machine_.pairs();
    parallel_for(rows.rows, block_rows, [&](std::int64_t first, std::int64_t last) {
        Block block;
        for (; first < last; first += block_rows) {
            const std::int64_t stop = std::min(last, first + block_rows);
            double* value = out.value.data() + first * pairs;
            evaluate(rows, first, stop, block, value);
            for (std::int64_t r = first; r < stop; ++r) {
                const Rounding::Row rounding = rounding_->row(rows, r, false);
                for (std::int64_t p = 0; p < pairs; ++p, ++value) {
                    *value -= machine_.rho[p];
                    if (out.with_radius) out.radius[r * pairs + p] = rounding_->radius(p, rounding, *value);
                }
            }
        }
    });
}

std::int64_t Exact::decision_values(const Rows& rows, bool precise, const std::vector<Threshold>& thresholds, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t pairs = machine_.pairs();
    if (machine_.kernel == KernelType::precomputed) {
        std::int64_t serial = -1;
        const Rows& sv = *machine_.vectors;
        for (std::int64_t i = 0; i < sv.rows; ++i) serial = std::max(serial, static_cast<std::int64_t>(sv.values[sv.begin(i)]));
        for (std::int64_t r = 0; r < rows.rows; ++r) {
            const std::int64_t count = rows.end(r) - rows.begin(r);
            if (count <= serial || (count && rows.indices[rows.end(r) - 1] != count - 1)) return r;
        }
    }
    std::atomic<std::int64_t> reference_rows{0};
    parallel_for(rows.rows, block_rows, [&](std::int64_t first, std::int64_t last) {
        Block block;
        std::vector<double> scratch;
        std::int64_t settled_by_reference = 0;
        for (; first < last; first += block_rows) {
            const std::int64_t stop = std::min(last, first + block_rows);
            double* const value = out.value.data() + first * pairs;
            if (machine_.kernel != KernelType::precomputed) evaluate(rows, first, stop, block, value);
            for (std::int64_t r = first; r < stop; ++r) {
                double* const row_value = out.value.data() + r * pairs;
                const Rounding::Row rounding = rounding_->row(rows, r, precise);
                const bool known = rounding.kernel < std::numeric_limits<double>::infinity();
                // After the sum, as LIBSVM: a large rho must not swallow small terms one by one.
                for (std::int64_t p = 0; p < pairs; ++p) row_value[p] -= machine_.rho[p];
                bool settled = true;
                for (std::int64_t p = 0; p < pairs && (settled || out.with_radius); ++p) {
                    const double radius = rounding_->radius(p, rounding, row_value[p]);
                    if (out.with_radius) out.radius[r * pairs + p] = radius;
                    if (machine_.regression || !known) {
                        settled &= known;
                        continue;
                    }
                    settled &= std::fabs(row_value[p]) > radius;  // false for NaN too
                    for (const auto& [at, margin] : thresholds) settled &= std::fabs(row_value[p] - at) > radius + margin;
                }
                if (settled) continue;
                scratch.resize(machine_.total_sv());
                reference_sum(machine_, rows, r, scratch.data(), row_value);
                if (out.with_radius) std::fill_n(out.radius.data() + r * pairs, pairs, 0.0);  // svm-predict's own number
                ++settled_by_reference;
            }
        }
        reference_rows += settled_by_reference;
    });
    out.reference_rows = reference_rows;
    return -1;
}

}  // namespace fastsvm

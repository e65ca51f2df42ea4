#include "exact.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.h"
#include "parallel.h"

namespace fastsvm {

namespace {

constexpr double unit = 1.1102230246251565e-16;  // 2^-53
constexpr std::int64_t block_rows = 64;
// Column lists pay below this share of non-zeros: a product there costs about eight done side by side.
constexpr double sparse_density = 1.0 / 16;

// The length of n numbers from the computed sum of their squares, rounded up; squares below the smallest double may be missing.
double length(double squares, std::int64_t n) {
    return std::sqrt(squares) * (1 + unit * static_cast<double>(n + 4)) + std::sqrt(static_cast<double>(n)) * 2e-154;
}

std::vector<std::int32_t> used_indices(const Rows& vectors) {
    std::vector<std::int32_t> all(vectors.indices.data(), vectors.indices.data() + vectors.indices.size());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace

Exact::Exact(Machine machine) : machine_(std::move(machine)), features_(used_indices(*machine_.vectors)) {
    const Rows& sv = *machine_.vectors;
    for (std::int64_t i = 0; i < sv.rows; ++i) {
        largest_norm_ = std::max(largest_norm_, length(sv.squared_norms[i], sv.end(i) - sv.begin(i)));
        largest_count_ = std::max(largest_count_, sv.end(i) - sv.begin(i));
    }
    const std::int64_t classes = machine_.classes(), pairs = machine_.pairs();
    pair_weight_.assign(pairs, 0);
    pair_count_.assign(pairs, 0);
    std::int64_t i = 0;
    for (std::int64_t c = 0; c < classes; ++c)
        for (std::int64_t k = 0; k < machine_.nr_sv[c]; ++k, ++i) {
            const double size = machine_.kernel == KernelType::linear ? length(sv.squared_norms[i], sv.end(i) - sv.begin(i)) : 1.0;
            if (classes == 1) {
                if (pairs == 0) continue;
                pair_weight_[0] += std::fabs(sv.labels[i * sv.leading]) * size;
                ++pair_count_[0];
                continue;
            }
            for (std::int64_t other = 0; other < classes; ++other) {
                if (other == c) continue;
                const std::int64_t pair = pair_of(std::min(c, other), std::max(c, other));
                const std::int64_t column = other > c ? other - 1 : other;
                pair_weight_[pair] += std::fabs(sv.labels[i * sv.leading + column]) * size;
                ++pair_count_[pair];
            }
        }
    // A sum of n positive terms errs by n u of itself at most; 1e-300 u is more than folded products lose by underflow.
    for (std::int64_t p = 0; p < pairs; ++p) pair_weight_[p] = pair_weight_[p] * (1 + 2 * unit * static_cast<double>(pair_count_[p] + 4)) + 1e-300 * static_cast<double>(pair_count_[p]);

    const double cells = static_cast<double>(sv.rows) * static_cast<double>(features_.size());
    const double entries = static_cast<double>(sv.indices.size());
    if (machine_.kernel == KernelType::linear && static_cast<double>(pairs) * static_cast<double>(features_.size()) <= std::max(4 * entries, 3e7)) fold_linear();
    else if (machine_.kernel != KernelType::precomputed) lay_out_strips(cells > 0 ? entries / cells : 1);
}

void Exact::fold_linear() {
    linear_ = true;
    const Rows& sv = *machine_.vectors;
    const std::int64_t classes = machine_.classes(), pairs = machine_.pairs();
    weights_.assign(static_cast<std::size_t>(features_.size() * pairs), 0.0);
    std::int64_t i = 0;
    for (std::int64_t c = 0; c < classes; ++c)
        for (std::int64_t k = 0; k < machine_.nr_sv[c]; ++k, ++i)
            for (std::int64_t e = sv.begin(i); e < sv.end(i); ++e) {
                double* const w = weights_.data() + features_.column(sv.indices[e]) * pairs;
                const double* const coef = sv.labels.data() + i * sv.leading;
                if (classes == 1 && pairs == 1) w[0] += coef[0] * sv.values[e];
                for (std::int64_t other = 0; other < classes; ++other)
                    if (other != c) w[pair_of(std::min(c, other), std::max(c, other))] += coef[other > c ? other - 1 : other] * sv.values[e];
            }
}

void Exact::lay_out_strips(double density) {
    const Rows& sv = *machine_.vectors;
    const std::int64_t d = features_.size();
    class_start_.push_back(0);
    for (std::int64_t n : machine_.nr_sv) class_start_.push_back(class_start_.back() + (n + strip - 1) / strip * strip);
    padded_ = class_start_.back();
    std::vector<std::int64_t> place;  // of each support vector in the padded order
    for (std::size_t c = 0; c < machine_.nr_sv.size(); ++c)
        for (std::int64_t k = 0; k < machine_.nr_sv[c]; ++k) place.push_back(class_start_[c] + k);

    norms_.assign(padded_, 0.0);
    coef_.assign(static_cast<std::size_t>(padded_ * sv.leading), 0.0);
    for (std::int64_t i = 0; i < sv.rows; ++i) {
        norms_[place[i]] = sv.squared_norms[i];
        for (int j = 0; j < sv.leading; ++j) coef_[j * padded_ + place[i]] = sv.labels[i * sv.leading + j];
    }
    if (density >= sparse_density) {
        blocks_.assign(static_cast<std::size_t>(padded_ * d), 0.0);
        for (std::int64_t i = 0; i < sv.rows; ++i)
            for (std::int64_t e = sv.begin(i); e < sv.end(i); ++e)
                blocks_[(place[i] / strip * d + features_.column(sv.indices[e])) * strip + place[i] % strip] = sv.values[e];
        return;
    }
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
        case KernelType::linear:
        case KernelType::precomputed: return;
    }
}

// Adds the terms of the padded support vectors [from, to) to a row's values.
void Exact::accumulate(std::int64_t from, std::int64_t to, const double* kernel_values, double* value) const {
    const Kernels& k = kernels();
    const std::int64_t classes = machine_.classes();
    if (classes == 1) {
        if (machine_.pairs()) value[0] += k.dot(to - from, coef_.data() + from, kernel_values);
        return;
    }
    std::int64_t c = std::upper_bound(class_start_.begin(), class_start_.end(), from) - class_start_.begin() - 1;
    for (; from < to; ++c) {
        const std::int64_t stop = std::min(to, class_start_[c + 1]);
        for (std::int64_t other = 0; stop > from && other < classes; ++other) {
            if (other == c) continue;
            const std::int64_t column = other > c ? other - 1 : other;
            value[pair_of(std::min(c, other), std::max(c, other))] += k.dot(stop - from, coef_.data() + column * padded_ + from, kernel_values);
        }
        kernel_values += stop - from;
        from = stop;
    }
}

struct Exact::Block {
    std::vector<Columns> columns;
    std::vector<double> kernel_values;
};

void Exact::evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, double* value) const {
    const Kernels& k = kernels();
    const std::int64_t n = last - first, d = features_.size(), pairs = machine_.pairs();
    block.columns.resize(block_rows);
    for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t begin = rows.begin(first + r);
        block.columns[r].take(features_, rows.indices.data() + begin, rows.values.data() + begin, rows.end(first + r) - begin);
        std::fill_n(value + r * pairs, pairs, 0.0);
    }
    if (linear_) {
        for (std::int64_t r = 0; r < n; ++r)
            for (std::int64_t e = 0; e < block.columns[r].count(); ++e)
                k.add_scaled(pairs, block.columns[r].value[e], weights_.data() + block.columns[r].column[e] * pairs, value + r * pairs);
        return;
    }
    if (!list_start_.empty()) {
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
        return;
    }
    // A tile of strips stays in the first-level cache while the rows of the block pass over it.
    const std::int64_t tile = std::clamp<std::int64_t>(20000 / (std::max<std::int64_t>(d, 1) * strip * 8), 1, 16) * strip;
    block.kernel_values.resize(tile);
    double* const values = block.kernel_values.data();
    for (std::int64_t from = 0; from < padded_; from += tile) {
        const std::int64_t to = std::min(padded_, from + tile);
        for (std::int64_t r = 0; r < n; ++r) {
            const Columns& row = block.columns[r];
            for (std::int64_t s = from; s < to; s += strip)
                k.strip_dots(blocks_.data() + s * d, row.count(), row.column.data(), row.value.data(), values + (s - from));
            kernel_from_dots(to - from, rows.squared_norms[first + r], norms_.data() + from, values);
            accumulate(from, to, values, value + r * pairs);
        }
    }
}

// What rounding can put between a value of evaluate() and svm-predict's, for one row: radius = weight (common + per_sum u n) scale,
// with weight = sum |coef| (times |x| for linear kernels) and n the support vectors of the pair. u = 2^-53; q entries in the row,
// s in the largest support vector, X = the largest |x|. First-order terms, with the second-order ones covered by rounding the constants up.
//
// RBF (scale 1, since K <= 1). Our distance |x|^2 + |z|^2 - 2 x.z errs by (max(q, s) + 4) u (X + |z|)^2 at most, which moves K by at most
// K (e^delta - 1), delta = gamma times that. LIBSVM's, a sum of squares, errs by (q + s + 3) u of itself, which moves K by at most
// (q + s + 3) u max t e^-t = 0.37 (q + s + 3) u; each exponent's own product adds 0.37 u; exp: 6 u ours, 2 u libm's.
// Sums of products, in any order: (n + 2) u sum |coef| K for each program, and the subtraction of rho, u |value| each.
// Polynomial: |base| <= B = |gamma| X |z| + |coef0|, relative to B its error is (min(q, s) + 4) u in each program; the power multiplies
// that by degree and adds 2 u per squaring and product: scale B^degree. Sigmoid: tanh has slope <= 1: B times the same, 6 u for tanh, scale 1.
// Linear: both programs sum products |coef| |x_j| |z_j|, weight |z| in all: (min(q, s) + n + 4) u each, but q for min(q, s) where ours are folded.
void Exact::row_terms(const Rows& rows, std::int64_t row, bool precise, double* common, double* per_sum, double* scale) const {
    const double q = static_cast<double>(rows.end(row) - rows.begin(row)), s = static_cast<double>(largest_count_);
    const double z = length(rows.squared_norms[row], rows.end(row) - rows.begin(row)), x = largest_norm_;
    const double base = std::fabs(machine_.gamma) * x * z + std::fabs(machine_.coef0);
    *per_sum = 2.1 * unit;
    *scale = 1;
    switch (machine_.kernel) {
        case KernelType::rbf: {
            const double delta = machine_.gamma * (std::max(q, s) + 6) * unit * (x + z) * (x + z);
            *common = 1.02 * delta + (0.4 * (q + s + 5) + 14) * unit;
            // Beyond: precise values are held to 1e-10 of sum |coef| by the reference sum, and a negative gamma leaves K unbounded.
            if (!(machine_.gamma >= 0) || !(delta < (precise ? 1e-10 : 1e-2))) *common = std::numeric_limits<double>::infinity();
            return;
        }
        case KernelType::polynomial: {
            const double degree = std::max(machine_.degree, 0);
            *common = 2.1 * unit * (degree * (std::min(q, s) + 8) + 8);
            *scale = std::pow(base, degree) * (1 + 1e-10);
            return;
        }
        case KernelType::sigmoid: *common = 2.1 * unit * ((std::min(q, s) + 6) * base + 8); return;
        case KernelType::linear:
            // Folded, our sum has a term for every entry of the row.
            *common = 1.05 * unit * (std::min(q, s) + (linear_ ? q : std::min(q, s)) + 16);
            *scale = z;
            return;
        case KernelType::precomputed: *common = std::numeric_limits<double>::infinity(); return;
    }
}

double Exact::rounding_radius(std::int64_t pair, double common, double per_sum, double scale, double value) const {
    // Denormal products, and K below e^-708 taken for 0, are far below the last term.
    return pair_weight_[pair] * (common + per_sum * static_cast<double>(pair_count_[pair] + 6)) * scale +
           3 * unit * (std::fabs(value) + std::fabs(machine_.rho[pair])) + 1e-200;
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
                double common, per_sum, scale;
                row_terms(rows, r, precise, &common, &per_sum, &scale);
                // After the sum, as LIBSVM: a large rho must not swallow small terms one by one.
                for (std::int64_t p = 0; p < pairs; ++p) row_value[p] -= machine_.rho[p];
                bool settled = true;
                for (std::int64_t p = 0; p < pairs && (settled || out.with_radius); ++p) {
                    const double radius = rounding_radius(p, common, per_sum, scale, row_value[p]);
                    if (out.with_radius) out.radius[r * pairs + p] = radius;
                    if (machine_.regression || !(common < std::numeric_limits<double>::infinity())) {
                        settled &= common < std::numeric_limits<double>::infinity();
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

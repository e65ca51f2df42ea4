// Compiled without contraction; see CMakeLists.txt. The order of every operation here is LIBSVM's (svm.cpp,
// Kernel::k_function, svm_predict_values) and must stay so.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "exact/machine.h"
#include "simd/loops.h"

namespace fastsvm {

namespace {

struct Sparse {
    const std::int32_t* index;
    const double* value;
    const std::int32_t* end;
};

Sparse row_of(const Rows& rows, std::int64_t row) {
    return {rows.indices.data() + rows.begin(row), rows.values.data() + rows.begin(row),
            rows.indices.data() + rows.end(row)};
}

double dot(Sparse x, Sparse y) {
    double sum = 0;
    while (x.index != x.end && y.index != y.end) {
        if (*x.index == *y.index) {
            sum += *x.value++ * *y.value++;
            ++x.index;
            ++y.index;
        } else if (*x.index > *y.index) {
            ++y.index;
            ++y.value;
        } else {
            ++x.index;
            ++x.value;
        }
    }
    return sum;
}

double squared_distance(Sparse x, Sparse y) {
    double sum = 0;
    while (x.index != x.end && y.index != y.end) {
        if (*x.index == *y.index) {
            const double d = *x.value++ - *y.value++;
            sum += d * d;
            ++x.index;
            ++y.index;
        } else if (*x.index > *y.index) {
            sum += *y.value * *y.value;
            ++y.index;
            ++y.value;
        } else {
            sum += *x.value * *x.value;
            ++x.index;
            ++x.value;
        }
    }
    for (; x.index != x.end; ++x.index, ++x.value) sum += *x.value * *x.value;
    for (; y.index != y.end; ++y.index, ++y.value) sum += *y.value * *y.value;
    return sum;
}

double powi(double base, int times) {
    double tmp = base, ret = 1.0;
    for (int t = times; t > 0; t /= 2) {
        if (t % 2 == 1) ret *= tmp;
        tmp = tmp * tmp;
    }
    return ret;
}

double kernel(const Machine& m, Sparse x, Sparse y) {
    switch (m.kernel) {
        case KernelType::linear: return dot(x, y);
        case KernelType::polynomial: return powi(m.gamma * dot(x, y) + m.coef0, m.degree);
        case KernelType::rbf: return std::exp(-m.gamma * squared_distance(x, y));
        case KernelType::sigmoid: return std::tanh(m.gamma * dot(x, y) + m.coef0);
        case KernelType::precomputed: return x.value[static_cast<int>(*y.value)];
        case KernelType::exponential: return std::exp(-m.gamma * std::sqrt(squared_distance(x, y)));
        case KernelType::normalized_polynomial: {
            const auto k = [&m](Sparse a, Sparse b) { return powi(m.gamma * dot(a, b) + m.coef0, m.degree); };
            return k(x, y) / std::sqrt(k(x, x) * k(y, y));
        }
    }
    return 0;
}

}  // namespace

double reference_kernel(const Machine& m, const Rows& x, std::int64_t i, const Rows& z, std::int64_t j) {
    return kernel(m, row_of(x, i), row_of(z, j));
}

double reference_squared_distance(const Rows& x, std::int64_t i, const Rows& z, std::int64_t j) {
    return squared_distance(row_of(x, i), row_of(z, j));
}

namespace {

// Below, classes pass in their order: a pair's sum has the terms of its first class, one after the other, then those of
// its second, as LIBSVM's has.

// Support vectors whose kernel values are added together, so that a pair's sums are loaded and stored once for all of
// them.
constexpr std::int64_t tile = 16;
// Pairs whose sums still stay in a core's own cache, of a wide group of rows, and of a narrow one.
constexpr std::int64_t wide_pairs_max = 1 << 12, narrow_pairs_max = 1 << 16;

// A row by itself: its sums stand where they are wanted.
void sum_row(const Machine& m, const Rows& rows, std::int64_t row, double* out) {
    const Rows& sv = *m.vectors;
    std::fill_n(out, m.pairs(), 0.0);
    std::int64_t i = 0;
    for (std::int64_t c = 0; c < m.classes(); ++c)
        for (const std::int64_t stop = i + m.nr_sv[static_cast<std::size_t>(c)]; i < stop; ++i) {
            const double value = kernel(m, row_of(rows, row), row_of(sv, i));
            const double* const coef = sv.leading.data() + i * sv.leading_count;
            for_each_pair(m, c, [&](std::int64_t pair, std::int64_t column) { out[pair] += coef[column] * value; });
        }
    for (std::int64_t p = 0; p < m.pairs(); ++p) out[p] -= m.rho[static_cast<std::size_t>(p)];
}

// Rows side by side: their entries over the union of their indices, their kernel values with a few support vectors,
// their sums.
class Group {
public:
    Group(const Machine& machine, int width)
        : m_(machine),
          width_(width),
          loops_(width == wide_group ? *kernels().wide_reference : *kernels().narrow_reference) {}

    // Of at most `width` rows; their decision values go to out: (count, pairs).
    void sum(const Rows& rows, const std::int64_t* which, std::int64_t count, double* out) {
        const bool by_lanes = m_.kernel == KernelType::linear || m_.kernel == KernelType::polynomial ||
                              m_.kernel == KernelType::rbf || m_.kernel == KernelType::sigmoid;
        if (by_lanes) gather(rows, which, count);
        values_.assign(static_cast<std::size_t>(tile * width_), 0.0);
        sums_.assign(static_cast<std::size_t>(m_.pairs() * width_), 0.0);
        const Rows& sv = *m_.vectors;
        std::int64_t first = 0;
        for (std::int64_t c = 0; c < m_.classes(); ++c) {
            const std::int64_t stop = first + m_.nr_sv[static_cast<std::size_t>(c)];
            for (; first < stop; first += tile) {
                const std::int64_t n = std::min(tile, stop - first);
                for (std::int64_t t = 0; t < n; ++t) {
                    double* const values = values_.data() + t * width_;
                    if (by_lanes)
                        kernel_values(first + t, count, values);
                    else
                        for (std::int64_t r = 0; r < count; ++r)
                            values[r] = kernel(m_, row_of(rows, which[r]), row_of(sv, first + t));
                }
                for_each_pair(m_, c, [&](std::int64_t pair, std::int64_t column) {
                    loops_.add_terms(n, sv.leading.data() + first * sv.leading_count + column, sv.leading_count,
                                     values_.data(), sums_.data() + pair * width_);
                });
            }
            first = stop;
        }
        for (std::int64_t r = 0; r < count; ++r)
            for (std::int64_t p = 0; p < m_.pairs(); ++p)
                out[r * m_.pairs() + p] =
                    sums_[static_cast<std::size_t>(p * width_ + r)] - m_.rho[static_cast<std::size_t>(p)];
    }

private:
    void gather(const Rows& rows, const std::int64_t* which, std::int64_t count) {
        indices_.clear();
        for (std::int64_t r = 0; r < count; ++r)
            indices_.insert(indices_.end(), rows.indices.data() + rows.begin(which[r]),
                            rows.indices.data() + rows.end(which[r]));
        std::sort(indices_.begin(), indices_.end());
        indices_.erase(std::unique(indices_.begin(), indices_.end()), indices_.end());
        entries_.assign(indices_.size() * static_cast<std::size_t>(width_), 0.0);
        for (std::int64_t r = 0; r < count; ++r) {
            std::size_t at = 0;
            for (std::int64_t e = rows.begin(which[r]); e < rows.end(which[r]); ++e) {
                while (indices_[at] < rows.indices[e]) ++at;
                entries_[at * static_cast<std::size_t>(width_) + static_cast<std::size_t>(r)] = rows.values[e];
            }
        }
    }

    void kernel_values(std::int64_t vector, std::int64_t count, double* out) const {
        const Rows& sv = *m_.vectors;
        const std::int64_t begin = sv.begin(vector);
        const LaneEntries x{indices_.data(), entries_.data(), static_cast<std::int64_t>(indices_.size())};
        const LaneEntries y{sv.indices.data() + begin, sv.values.data() + begin, sv.end(vector) - begin};
        if (m_.kernel == KernelType::rbf) {
            loops_.squared_distances(x, y, out);
            for (std::int64_t r = 0; r < count; ++r) out[r] = std::exp(-m_.gamma * out[r]);
            return;
        }
        loops_.dots(x, y, out);
        if (m_.kernel == KernelType::polynomial)
            for (std::int64_t r = 0; r < count; ++r) out[r] = powi(m_.gamma * out[r] + m_.coef0, m_.degree);
        if (m_.kernel == KernelType::sigmoid)
            for (std::int64_t r = 0; r < count; ++r) out[r] = std::tanh(m_.gamma * out[r] + m_.coef0);
    }

    const Machine& m_;
    const int width_;
    const ReferenceLoops& loops_;
    std::vector<std::int32_t> indices_;  // (entries), increasing
    std::vector<double> entries_;        // (entries, width)
    std::vector<double> values_;         // (tile, width)
    std::vector<double> sums_;           // (pairs, width)
};

}  // namespace

void reference_sums(const Machine& m, const Rows& rows, const std::int64_t* which, std::int64_t count, double* out) {
    std::optional<Group> narrow, wide;
    const std::int64_t pairs = m.pairs();
    for (std::int64_t first = 0; first < count;) {
        std::int64_t n = std::min<std::int64_t>(wide_group, count - first);
        if (n == 1 || pairs > narrow_pairs_max) {
            sum_row(m, rows, which[first], out + first * pairs);
            ++first;
            continue;
        }
        // Rows that share few indices have a long union: fewer of them side by side then.
        std::int64_t entries = 0;
        for (std::int64_t r = first; r < first + n; ++r) entries += rows.end(which[r]) - rows.begin(which[r]);
        const bool alike = static_cast<double>(entries) >=
                           0.3 * static_cast<double>(n * std::max<std::int64_t>(m.vectors->max_index, 1));
        const bool wide_enough = n > narrow_group && alike && pairs <= wide_pairs_max;
        if (!wide_enough) n = std::min<std::int64_t>(n, narrow_group);
        std::optional<Group>& group = wide_enough ? wide : narrow;
        if (!group) group.emplace(m, wide_enough ? wide_group : narrow_group);
        group->sum(rows, which + first, n, out + first * pairs);
        first += n;
    }
}

}  // namespace fastsvm

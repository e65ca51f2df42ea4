// Compiled without contraction (CMakeLists.txt). Every operation keeps LIBSVM's order (svm.cpp, Kernel::k_function).
#include "exact/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

struct Sparse {
    const std::int32_t* index;
    const double* value;
    const std::int32_t* end;
};

inline Sparse row_of(const Rows& rows, std::int64_t row) {
    return {rows.indices.data() + rows.begin(row), rows.values.data() + rows.begin(row),
            rows.indices.data() + rows.end(row)};
}

// Visits the indices of both: both(a, b) where they are equal, else of_x(a) or of_y(b). Moves x and y to where one
// ends. The common prefix of equal indices, which is all for dense rows, has a loop of its own.
template <class Both, class OfX, class OfY> inline void merge(Sparse& x, Sparse& y, Both both, OfX of_x, OfY of_y) {
    const std::ptrdiff_t n = std::min(x.end - x.index, y.end - y.index);
    std::ptrdiff_t k = 0;
    for (; k < n && x.index[k] == y.index[k]; ++k) both(x.value[k], y.value[k]);
    x = {x.index + k, x.value + k, x.end};
    y = {y.index + k, y.value + k, y.end};
    while (x.index != x.end && y.index != y.end) {
        if (*x.index == *y.index) {
            both(*x.value++, *y.value++);
            ++x.index;
            ++y.index;
        } else if (*x.index > *y.index) {
            ++y.index;
            of_y(*y.value++);
        } else {
            ++x.index;
            of_x(*x.value++);
        }
    }
}

inline double dot(Sparse x, Sparse y) {
    double sum = 0;
    merge(x, y, [&](double a, double b) { sum += a * b; }, [](double) {}, [](double) {});
    return sum;
}

inline double squared_distance(Sparse x, Sparse y) {
    double sum = 0;
    const auto square = [&](double a) { sum += a * a; };
    merge(x, y, [&](double a, double b) { square(a - b); }, square, square);
    for (; x.index != x.end; ++x.index, ++x.value) square(*x.value);
    for (; y.index != y.end; ++y.index, ++y.value) square(*y.value);
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

// x: squared distance or inner product.
double reference_value(const Kernel& k, double x) {
    switch (k.type) {
        case KernelType::linear: return x;
        case KernelType::polynomial: return powi(k.gamma * x + k.coef0, k.degree);
        case KernelType::rbf: return libm_exp(-k.gamma * x);
        case KernelType::sigmoid: return std::tanh(k.gamma * x + k.coef0);
        case KernelType::exponential: return libm_exp(-k.gamma * std::sqrt(x));
        case KernelType::precomputed:
        case KernelType::normalized_polynomial: break;  // one number is not enough
    }
    return 0;
}

double reference_value(const Kernel& k, Sparse x, Sparse y) {
    if (k.type == KernelType::precomputed) return x.value[static_cast<int>(*y.value)];
    if (k.type == KernelType::normalized_polynomial) {
        const auto before = [&k](Sparse a, Sparse b) { return powi(k.gamma * dot(a, b) + k.coef0, k.degree); };
        return before(x, y) / std::sqrt(before(x, x) * before(y, y));
    }
    return reference_value(k, k.of_distances() ? squared_distance(x, y) : dot(x, y));
}

// svm-predict's sums (svm.cpp, svm_predict_values): a pair's sum has its first class's terms, one by one, then its
// second's.

// Support vectors at a time: each sum is loaded and stored once for all.
constexpr std::int64_t tile = 16;
// Pairs whose sums fit a core's own cache.
constexpr std::int64_t wide_pairs_max = 1 << 12, narrow_pairs_max = 1 << 16;

// Whether lanes compute the inputs of kernel values.
bool by_lanes(const Kernel& kernel) { return kernel.type != KernelType::precomputed && !kernel.normalized(); }

void sum_row(const SvmModel& m, const Rows& rows, std::int64_t row, double* out) {
    const std::int64_t n = m.vectors->rows, padded = whole(n, reference_lanes);
    std::vector<double> values(static_cast<std::size_t>(padded));
    if (by_lanes(m.kernel)) {
        const Sparse x = row_of(rows, row);
        if (m.kernel.of_distances())
            for (std::int64_t i = 0; i < n; ++i) values[i] = squared_distance(x, row_of(*m.vectors, i));
        else
            for (std::int64_t i = 0; i < n; ++i) values[i] = dot(x, row_of(*m.vectors, i));
        reference_kernel_from(m.kernel, 1, padded, n, values.data());
    } else {
        for (std::int64_t i = 0; i < n; ++i) values[i] = reference_kernel(m.kernel, rows, row, *m.vectors, i);
    }
    std::vector<std::int64_t> start{0};
    for (const std::int64_t count : m.nr_sv) start.push_back(start.back() + count);
    reference_terms(m, values.data(), start.data(), out);
}

// Rows side by side, over the union of their indices.
class Group {
public:
    Group(const SvmModel& model, int width)
        : m_(model), width_(width), loops_(width == wide_group ? *loops().wide_reference : *loops().narrow_reference) {}

    // Up to `width` rows; out: (count, pairs).
    void sum(const Rows& rows, const std::int64_t* which, std::int64_t count, double* out) {
        const bool lanes = by_lanes(m_.kernel);
        if (lanes) gather(rows, which, count);
        values_.assign(static_cast<std::size_t>(tile * width_), 0.0);
        sums_.assign(static_cast<std::size_t>(m_.pairs() * width_), 0.0);
        const Rows& sv = *m_.vectors;
        std::int64_t first = 0;
        for (std::int64_t c = 0; c < m_.classes(); ++c) {
            const std::int64_t stop = first + m_.nr_sv[static_cast<std::size_t>(c)];
            for (std::int64_t n; first < stop; first += n) {
                n = std::min(tile, stop - first);
                for (std::int64_t t = 0; t < n; ++t) {
                    double* const values = values_.data() + t * width_;
                    if (lanes)
                        begin_values(first + t, values);
                    else
                        for (std::int64_t r = 0; r < count; ++r)
                            values[r] = reference_kernel(m_.kernel, rows, which[r], sv, first + t);
                }
                if (lanes) reference_kernel_from(m_.kernel, n, width_, count, values_.data());
                for_each_pair(m_, c, [&](std::int64_t pair, std::int64_t column) {
                    loops_.add_terms(n, sv.leading.data() + first * sv.leading_count + column, sv.leading_count,
                                     values_.data(), sums_.data() + pair * width_);
                });
            }
        }
        for (std::int64_t r = 0; r < count; ++r)
            for (std::int64_t p = 0; p < m_.pairs(); ++p)
                out[r * m_.pairs() + p] =
                    sums_[static_cast<std::size_t>(p * width_ + r)] - m_.rho[static_cast<std::size_t>(p)];
    }

private:
    void gather(const Rows& rows, const std::int64_t* which, std::int64_t count) {
        const auto indices_of = [&](std::int64_t r) { return rows.indices.data() + rows.begin(which[r]); };
        const auto end_of = [&](std::int64_t r) { return rows.indices.data() + rows.end(which[r]); };
        indices_.assign(indices_of(0), end_of(0));
        bool more = false;
        for (std::int64_t r = 1; r < count; ++r)
            if (!std::equal(indices_of(r), end_of(r), indices_of(0), end_of(0))) {
                indices_.insert(indices_.end(), indices_of(r), end_of(r));
                more = true;
            }
        if (more) {
            std::sort(indices_.begin(), indices_.end());
            indices_.erase(std::unique(indices_.begin(), indices_.end()), indices_.end());
        }
        entries_.assign(indices_.size() * static_cast<std::size_t>(width_), 0.0);
        for (std::int64_t r = 0; r < count; ++r) {
            std::size_t at = 0;
            for (std::int64_t e = rows.begin(which[r]); e < rows.end(which[r]); ++e) {
                while (indices_[at] < rows.indices[e]) ++at;
                entries_[at * static_cast<std::size_t>(width_) + static_cast<std::size_t>(r)] = rows.values[e];
            }
        }
    }

    // Squared distances or inner products.
    void begin_values(std::int64_t vector, double* out) const {
        const Rows& sv = *m_.vectors;
        const std::int64_t begin = sv.begin(vector);
        const LaneEntries x{indices_.data(), entries_.data(), static_cast<std::int64_t>(indices_.size())};
        const LaneEntries y{sv.indices.data() + begin, sv.values.data() + begin, sv.end(vector) - begin};
        (m_.kernel.of_distances() ? loops_.squared_distances : loops_.dots)(x, y, out);
    }

    const SvmModel& m_;
    const int width_;
    const ReferenceLoops& loops_;
    std::vector<std::int32_t> indices_;  // (entries), increasing
    std::vector<double> entries_;        // (entries, width)
    std::vector<double> values_;         // (tile, width)
    std::vector<double> sums_;           // (pairs, width)
};

}  // namespace

double Kernel::self(double squared_norm) const {
    switch (type) {
        case KernelType::linear: return squared_norm;
        case KernelType::polynomial: return std::pow(gamma * squared_norm + coef0, degree);
        default: return 1;
    }
}

double Kernel::before_normalization(double squared_norm) const { return powi(gamma * squared_norm + coef0, degree); }

double reference_kernel(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z, std::int64_t j) {
    return reference_value(kernel, row_of(x, i), row_of(z, j));
}

double reference_squared_distance(const Rows& x, std::int64_t i, const Rows& z, std::int64_t j) {
    return squared_distance(row_of(x, i), row_of(z, j));
}

void reference_kernel_from(const Kernel& kernel, std::int64_t vectors, std::int64_t width, std::int64_t count,
                           double* values) {
    const std::int64_t n = vectors * width;
    switch (kernel.type) {
        case KernelType::linear: return;
        case KernelType::polynomial:
            return loops().wide_reference->powers(n, kernel.gamma, kernel.coef0, kernel.degree, values);
        case KernelType::rbf:
        case KernelType::exponential:
            if (const ExpLoop exp = library_exp()) {
                for (std::int64_t s = 0; s < n && kernel.by_differences(); ++s) values[s] = std::sqrt(values[s]);
                return exp(n, -kernel.gamma, values);
            }
            break;
        default: break;
    }
    for (std::int64_t v = 0; v < vectors; ++v)
        for (std::int64_t s = 0; s < count; ++s) values[v * width + s] = reference_value(kernel, values[v * width + s]);
}

void kernel_from_dots(const Kernel& kernel, std::int64_t n, double squared_norm, const double* squared_norms,
                      double inverse_root, const double* inverse_roots, double* values) {
    switch (kernel.type) {
        case KernelType::rbf: return loops().rbf_from_dots(n, kernel.gamma, squared_norm, squared_norms, values);
        case KernelType::polynomial:
            return loops().polynomial_from_dots(n, kernel.gamma, kernel.coef0, kernel.degree, values);
        case KernelType::sigmoid:
            for (std::int64_t s = 0; s < n; ++s) values[s] = std::tanh(kernel.gamma * values[s] + kernel.coef0);
            return;
        case KernelType::normalized_polynomial:
            loops().polynomial_from_dots(n, kernel.gamma, kernel.coef0, kernel.degree, values);
            for (std::int64_t s = 0; s < n; ++s) values[s] *= inverse_root * inverse_roots[s];
            return;
        case KernelType::linear:
        case KernelType::precomputed:
        case KernelType::exponential: return;
    }
}

void kernel_from_squared_distances(const Kernel& kernel, std::int64_t n, double* values) {
    if (kernel.type == KernelType::exponential)
        for (std::int64_t s = 0; s < n; ++s) values[s] = std::sqrt(values[s]);
    loops().exp_of_norms(n, kernel.gamma, values);
}

void reference_terms(const SvmModel& m, const double* values, const std::int64_t* start, double* out) {
    std::fill_n(out, m.pairs(), 0.0);
    const std::int64_t columns = m.vectors->leading_count;
    const double* coef = m.vectors->leading.data();
    std::vector<double> own(static_cast<std::size_t>(columns));  // side by side: a sum waits for its previous addition
    for (std::int64_t c = 0; c < m.classes(); ++c) {
        double* const sums = own.data();
        const double* value = values + start[c];
        for_each_pair(m, c, [&](std::int64_t pair, std::int64_t column) { sums[column] = out[pair]; });
        for (std::int64_t left = m.nr_sv[static_cast<std::size_t>(c)]; left > 0; --left, ++value, coef += columns)
            for (std::int64_t column = 0; column < columns; ++column) sums[column] += coef[column] * *value;
        for_each_pair(m, c, [&](std::int64_t pair, std::int64_t column) { out[pair] = sums[column]; });
    }
    for (std::int64_t p = 0; p < m.pairs(); ++p) out[p] -= m.rho[static_cast<std::size_t>(p)];
}

void reference_sums(const SvmModel& m, const Rows& rows, const std::int64_t* which, std::int64_t count, double* out) {
    std::optional<Group> narrow, wide;
    const std::int64_t pairs = m.pairs();
    for (std::int64_t first = 0; first < count;) {
        std::int64_t n = std::min<std::int64_t>(wide_group, count - first);
        // The loops for several rows merge their union: that needs vectors whose indices increase.
        if (n == 1 || pairs > narrow_pairs_max || !m.vectors->increasing) {
            sum_row(m, rows, which[first], out + first * pairs);
            ++first;
            continue;
        }
        // Rows that share few indices have a long union: take fewer.
        std::int64_t entries = 0;
        for (std::int64_t r = first; r < first + n; ++r) entries += rows.end(which[r]) - rows.begin(which[r]);
        const bool alike = static_cast<double>(entries) >=
                           0.3 * static_cast<double>(n * std::max<std::int64_t>(m.vectors->max_index, 1));
        const bool wide_enough = n > 2 * narrow_group && alike && pairs <= wide_pairs_max;
        if (!wide_enough) n = std::min<std::int64_t>(n, narrow_group);
        std::optional<Group>& group = wide_enough ? wide : narrow;
        if (!group) group.emplace(m, wide_enough ? wide_group : narrow_group);
        group->sum(rows, which + first, n, out + first * pairs);
        first += n;
    }
}

void reference_sums(const SvmModel& m, const Rows& rows, Decisions& out) {
    out.resize(rows.rows);
    std::fill(out.radius.begin(), out.radius.end(), 0.0);
    const std::int64_t grain = std::clamp<std::int64_t>((out.rows + get_threads() - 1) / get_threads(), 1, wide_group);
    parallel_for(out.rows, grain, [&](std::int64_t first, std::int64_t last) {
        std::vector<std::int64_t> which(static_cast<std::size_t>(last - first));
        std::iota(which.begin(), which.end(), first);
        reference_sums(m, rows, which.data(), last - first, out.value.data() + first * out.pairs);
    });
}

}  // namespace fastsvm

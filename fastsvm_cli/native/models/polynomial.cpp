#include "models/maclaurin.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "exact/reference/rounding.h"
#include "simd/loops.h"

#ifdef __APPLE__
extern "C" double lgamma_r(double, int*);  // hidden from standard C++ by its headers
#endif

namespace fastsvm {

namespace {

// std::lgamma writes a global variable: not thread-safe.
double log_factorial(int n) {
    int sign;
    return lgamma_r(n + 1.0, &sign);
}

// Interleaves `lanes` vectors: (length, lanes).
template <class T, class Numbers> std::vector<T> side_by_side(Numbers numbers) {
    std::vector<T> out(numbers(0).size() * lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        std::vector<T>& from = numbers(lane);
        for (std::size_t i = 0; i < from.size(); ++i) out[i * lanes + lane] = from[i];
        from = {};
    }
    return out;
}

}  // namespace

Center::Center(const double* m, std::int64_t d, double largest_norm, bool gaussian, double gamma)
    : m(m, m + d), largest_norm(largest_norm) {
    for (double x : this->m) squared_norm += x * x;
    moved = squared_norm != 0;
    const double limit = 16 * gamma * gamma * largest_norm;
    norm_limit = gaussian && limit > 0 ? 1 / limit : infinite;
    // B35, with a margin for rounding.
    const double reach = length(largest_norm, static_cast<double>(d)) * (1 + 1e-9) + std::sqrt(27.7 / gamma);
    far_norm = gaussian && gamma > 0 ? reach * reach : infinite;
}

double ExpansionBounds::norm_slack(const Center& center, const Rows& rows, std::int64_t row, double norm,
                                   bool centered) const {
    const double d = dimension, q = static_cast<double>(rows.end(row) - rows.begin(row));
    if (centered) return (d + q + 8) * unit * norm + (d + q) * 4e-308;
    const double size = length(rows.squared_norms[row], q) + length(center.squared_norm, d);
    return (d + q + 8) * unit * size * size + (d + q) * 4e-308;
}

bool ExpansionBounds::is_far(const Center& center, const Rows& rows, std::int64_t row, double norm,
                             bool centered) const {
    const double slack = norm_slack(center, rows, row, norm, centered);
    return slack < infinite && norm - slack > center.far_norm;
}

RowFromCenter ExpansionBounds::row_from(const Center& center, const Rows& rows, std::int64_t row, double norm,
                                        bool centered, std::size_t left_out) const {
    RowFromCenter out;
    const double d = dimension, q = static_cast<double>(rows.end(row) - rows.begin(row));
    const double z = length(rows.squared_norms[row], q), m = length(center.squared_norm, d);
    const double slack = norm_slack(center, rows, row, norm, centered);
    const double low = std::max(norm - slack, 0.0), high = norm + slack;
    out.weight = gaussian ? std::exp(-gamma * low) * up : 1;
    // B4
    out.exponent_error = gaussian ? gamma * slack * 1.01 + (8 + gamma * norm) * unit : 0;
    if (gaussian && !(gamma * slack < 1e-2)) out.exponent_error = infinite;
    out.distance[0] = out.reach[0] = 1;
    for (int k = 1; k <= degree; ++k) {
        out.distance[k] = out.distance[k - 1] * std::sqrt(high) * up;
        out.reach[k] = centered ? out.distance[k] : out.reach[k - 1] * (z + m) * up;
    }
    if (!gaussian || !left_out) return out;
    // B1.
    const int last = degree + static_cast<int>(left_out) - 1;  // N
    const double t_low = 2 * gamma * low, t_high = 2 * gamma * high;
    int at = 0;
    for (int n = degree + 1; n <= last; ++n) {
        const double t = std::clamp(static_cast<double>(n), t_low, t_high);
        out.tail[at++] = t > 0 ? std::exp(0.5 * (n * std::log(t) - t - log_factorial(n))) * up : 0;
    }
    out.tail[at] =
        t_high > 0 ? std::min(1.0, std::exp(0.5 * ((last + 1) * std::log(t_high) - log_factorial(last + 1))) * up) : 0;
    return out;
}

double ExpansionBounds::radius(const Certificate& certificate, const double* norms, std::size_t rank,
                               const RowFromCenter& seen, double term) const {
    double truncation = 0, stored = 0, rounding = 0;  // B1, B2, B3
    for (std::size_t i = 0; i < certificate.truncation.size(); ++i)
        truncation += certificate.truncation[i] * seen.tail[i];
    for (int k = 0; k <= degree; ++k) {
        stored += certificate.error[static_cast<std::size_t>(k)] * seen.distance[k];
        rounding += norms[k] * seen.reach[k];
    }
    // B3; B36: one more per term of the compressed M.
    const double operations = 2.0 * degree * (dimension + degree + 6) + 20 + static_cast<double>(rank);
    return truncation + seen.weight * (stored + operations * unit * rounding) +
           std::fabs(term) * (seen.exponent_error * 1.01 + 4 * unit);
}

Polynomial::Polynomial(const double* tensors, int degree, const Center& center, bool single, double gamma)
    : packed_{static_cast<std::int64_t>(center.m.size()), degree, {}, {}} {
    const std::int64_t d = packed_.d;
    // Tensor entries become coefficients of monomials.
    std::vector<std::vector<double>> about_center;  // degree 0, 1, ...
    const double* entry = tensors;
    double largest_entry = 0;
    for (int k = 0; k <= degree; ++k) {
        std::vector<double> level(static_cast<std::size_t>(packed_size(k, d)));
        double squares = 0;
        for_each_monomial(k, d, [&](std::int64_t position, double orderings) {
            // The shortest text of a single-precision number needs rounding to single precision.
            const double x = single ? static_cast<double>(static_cast<float>(*entry)) : *entry;
            ++entry;
            level[static_cast<std::size_t>(position)] = x * orderings;
            squares += x * x * orderings;
            largest_entry = std::max(largest_entry, std::fabs(x));
        });
        norms_[k] = length(squares, static_cast<double>(packed_size(k, d)) * 24);
        about_center.push_back(std::move(level));
    }

    // Raw coordinates: sum_k p_k(z - m) = sum_k sum_r (-1)^r / r! D_m^r p_k (z). A far center cancels digits, here and
    // in the exponent gamma |z - m|^2; if fewer than about 11 would be left, rows form z - m.
    std::vector<std::vector<double>> raw = about_center;
    if (center.moved) {
        const double far = std::sqrt(center.squared_norm);
        double lost = 0, power = 1;
        for (int k = 0; k <= degree; ++k, power *= 2 * far) lost += norms_[k] * power;
        centered_ = lost * unit > 1e-12 * largest_entry || gamma * center.squared_norm * 4 * unit > 1e-12;
        for (int k = 1; !centered_ && k <= degree; ++k) {
            std::vector<double> work = about_center[static_cast<std::size_t>(k)];
            double factor = 1;
            for (int r = 1; r <= k; ++r) {
                std::vector<double> next(static_cast<std::size_t>(packed_size(k - r, d)), 0.0);
                add_derivative(k - r + 1, d, work.data(), center.m.data(), next.data());
                work = std::move(next);
                factor *= -1.0 / r;
                std::vector<double>& target = raw[static_cast<std::size_t>(k - r)];
                for (std::size_t i = 0; i < target.size(); ++i) target[i] += factor * work[i];
            }
        }
    }
    constant_ = raw[0][0];
    std::vector<std::vector<double>>& levels = packed_.levels;
    levels.assign(std::make_move_iterator(raw.begin() + 1), std::make_move_iterator(raw.end()));
    // The highest degree does not depend on the origin, so single precision is exact for degree 2: doubling is, unless
    // it overflows, but tripling is not. Small ones are stored as double: no conversion per product.
    const bool fits = 2 * largest_entry <= static_cast<double>(std::numeric_limits<float>::max());
    if (single && fits && degree == 2 && levels.back().size() * 8 > (1 << 19)) {
        packed_.top_float.assign(levels.back().begin(), levels.back().end());
        levels.back() = {};
    }
}

Polynomial::Polynomial(const double* coefficients, std::int64_t rank, const Center& center, bool single)
    : packed_{static_cast<std::int64_t>(center.m.size()), 2, {{}}, {}} {
    const auto stored = [single](double x) { return single ? static_cast<double>(static_cast<float>(x)) : x; };
    const std::int64_t d = packed_.d;
    const double *const lambda = coefficients + 1 + d, *const q = lambda + rank;
    const std::vector<double>& m = center.m;
    constant_ = stored(coefficients[0]);
    norms_[0] = std::fabs(constant_) * up;
    double squares = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        const double v = stored(coefficients[1 + j]);
        packed_.levels[0].push_back(v);
        constant_ -= v * m[static_cast<std::size_t>(j)];
        squares += v * v;
    }
    norms_[1] = length(squares, static_cast<double>(d));
    lambda_.resize(static_cast<std::size_t>(rank));
    q_.resize(static_cast<std::size_t>(rank * d));
    q_center_.assign(static_cast<std::size_t>(rank), 0.0);
    for (std::int64_t r = 0; r < rank; ++r) {
        double square = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            const double x = stored(q[r * d + j]);
            q_[static_cast<std::size_t>(j * rank + r)] = x;
            q_center_[static_cast<std::size_t>(r)] -= x * m[static_cast<std::size_t>(j)];
            square += x * x;
        }
        lambda_[static_cast<std::size_t>(r)] = stored(lambda[r]);
        norms_[2] += std::fabs(lambda_[static_cast<std::size_t>(r)]) * square * up;
    }
}

void Polynomial::values(const double* x, double* out) const {
    if (packed_.degree == 0)
        std::fill(out, out + lanes, 0.0);
    else
        packed_.with([&](const auto& loop, auto levels, auto top) {
            loop.dense(packed_.degree, levels, top, packed_.d, x, out);
        });
    for (int lane = 0; lane < lanes; ++lane) out[lane] = constant_ + out[lane];
}

double Polynomial::value(const Columns& columns, std::vector<double>& scratch) const {
    if (!lambda_.empty()) return constant_ + compressed(columns, scratch);
    if (packed_.degree == 0) return constant_;
    return constant_ + packed_.with([&](const auto& loop, auto levels, auto top) {
        return loop.sparse(packed_.degree, levels, top, packed_.d, columns.count(), columns.column.data(),
                           columns.value.data());
    });
}

double Polynomial::compressed(const Columns& columns, std::vector<double>& scratch) const {
    const std::size_t rank = lambda_.size();
    scratch.assign(q_center_.begin(), q_center_.end());
    double sum = 0;
    for (std::int64_t i = 0; i < columns.count(); ++i) {
        const std::size_t column = static_cast<std::size_t>(columns.column[static_cast<std::size_t>(i)]);
        const double x = columns.value[static_cast<std::size_t>(i)];
        sum += packed_.levels[0][column] * x;
        loops().add_scaled(static_cast<std::int64_t>(rank), x, q_.data() + column * rank, scratch.data());
    }
    for (std::size_t r = 0; r < rank; ++r) sum += lambda_[r] * scratch[r] * scratch[r];
    return sum;
}

PolynomialPanel::PolynomialPanel(Polynomial* const* polynomials)
    : packed_{polynomials[0]->packed_.d, polynomials[0]->packed_.degree, {}, {}} {
    for (int lane = 0; lane < lanes; ++lane) constants_.push_back(polynomials[lane]->constant_);
    for (std::size_t k = 0; k < polynomials[0]->packed_.levels.size(); ++k)
        packed_.levels.push_back(side_by_side<double>(
            [&](std::size_t lane) -> std::vector<double>& { return polynomials[lane]->packed_.levels[k]; }));
    packed_.top_float = side_by_side<float>(
        [&](std::size_t lane) -> std::vector<float>& { return polynomials[lane]->packed_.top_float; });
}

void PolynomialPanel::values(int rows, const double* x, double* out) const {
    packed_.with([&](const auto& loop, auto levels, auto top) {
        loop.dense_panel(packed_.degree, levels, top, packed_.d, rows, x, out);
    });
    add_constants(rows, out);
}

void PolynomialPanel::values(const Columns& columns, double* out) const {
    packed_.with([&](const auto& loop, auto levels, auto top) {
        loop.sparse_panel(packed_.degree, levels, top, packed_.d, columns.count(), columns.column.data(),
                          columns.value.data(), out);
    });
    add_constants(1, out);
}

void PolynomialPanel::add_constants(int rows, double* out) const {
    for (int r = 0; r < rows; ++r, out += lanes)
        for (int lane = 0; lane < lanes; ++lane) out[lane] = constants_[static_cast<std::size_t>(lane)] + out[lane];
}

}  // namespace fastsvm

#include "models/certificate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exact/reference/rounding.h"

#ifdef __APPLE__
extern "C" double lgamma_r(double, int*);  // hidden from standard C++ by its headers
#endif

namespace fastsvm {

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

namespace {

// std::lgamma writes a global variable: not thread-safe.
double log_factorial(int n) {
    int sign;
    return lgamma_r(n + 1.0, &sign);
}

}  // namespace

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
    return slack < std::numeric_limits<double>::infinity() && norm - slack > center.far_norm;
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
    if (gaussian && !(gamma * slack < 1e-2)) out.exponent_error = std::numeric_limits<double>::infinity();
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

}  // namespace fastsvm

#include "models/geometry.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "exact/reference/rounding.h"

namespace fastsvm {

namespace {
// With more, k^2 products each cost more than tighter bounds save.
constexpr std::int64_t most_measured = 4;
}  // namespace

PointSpan::PointSpan(std::shared_ptr<const Rows> points, const Panels& panels, double kernel_error, Functions functions,
                     std::vector<std::int64_t> stops)
    : points_(std::move(points)),
      panels_(panels),
      kernel_error_(kernel_error),
      k_(points_->rows),
      pairs_(functions.pairs()),
      of_(std::move(functions)),
      stops_(std::move(stops)) {
    const std::int64_t blocks = panels_.size() / panel;
    l_.resize(k_);
    columns_.resize(k_);
    kernel_.resize(k_);
    diagonal_.assign(static_cast<std::size_t>(k_), 0.0);
    identity_.resize(static_cast<std::size_t>(panels_.size()));
    std::iota(identity_.begin(), identity_.end(), 0);
    x_panels_.resize(blocks);
    g_.assign(static_cast<std::size_t>(panels_.size() * pairs_), 0.0);
    g_squares_.assign(static_cast<std::size_t>(k_ * pairs_), 0.0);
    for (std::vector<double>* each : {&reach_, &plain_, &roots_}) each->assign(static_cast<std::size_t>(k_), 0.0);
    at_ends_.resize(blocks);
    at_stops_.resize(stops_.size());
}

// L, X and g for a block of points: rows of L by forward, of X by back substitution (X L = I), as B13 assumes. One pass
// over memory.
void PointSpan::factor(std::int64_t block) const {
    const Loops& k = loops();
    const std::int64_t first = block * panel, end = first + panel, stop = std::min(k_, end);
    std::vector<double> kernel_values(static_cast<std::size_t>(panel * end)), scratch, self(panel, 1.0),
        rows(static_cast<std::size_t>(end * panel), 0.0);
    for (std::int64_t i = first; i < stop; ++i) {
        PreparedRow point;
        panels_.take(*points_, i, point);
        panels_.kernel_values(point, 0, end, kernel_values.data() + (i - first) * end, scratch);
        self[i - first] = panels_.kernel().self(points_->squared_norms[i]);
        if (pairs_ > most_measured) continue;
        const double* const row = kernel_values.data() + (i - first) * end;
        kernel_[i].assign(row, row + i);
        kernel_[i].push_back(self[i - first]);
    }
    double dots[panel];
    for (std::int64_t j = 0; j < stop; ++j) {
        std::vector<double>& l = l_[j];  // row j, without its diagonal
        if (j >= first) {
            l.resize(static_cast<std::size_t>(j));
            for (std::int64_t t = 0; t < j; ++t) l[t] = rows[t * panel + (j - first)];
        }
        k.panel_dots(rows.data(), j, identity_.data(), l.data(), dots);
        if (j >= first) {
            const double pivot = self[j - first] - dots[j - first];
            // A point in the span of earlier ones has zero rows in L, X and g.
            const bool independent = pivot > 1e-12 * self[j - first] && std::isfinite(pivot);
            diagonal_[j] = independent ? std::sqrt(pivot) : infinite;
            if (!independent) {
                std::fill(l.begin(), l.end(), 0.0);
                for (std::int64_t t = 0; t < j; ++t) rows[t * panel + (j - first)] = 0;
            }
        }
        for (std::int64_t i = std::max(first, j + 1); i < stop; ++i)
            rows[j * panel + (i - first)] = (kernel_values[(i - first) * end + j] - dots[i - first]) / diagonal_[j];
    }
    for (std::int64_t t = 0; t < stop; ++t) {
        if (columns_[t].empty()) columns_[t].resize(static_cast<std::size_t>(panels_.size()), 0.0);
        std::copy_n(rows.data() + t * panel, panel, columns_[t].data() + first);
    }

    Aligned<double>& x = x_panels_[block];  // (end, panel), transposed
    x.assign(static_cast<std::size_t>(end * panel), 0.0);
    for (std::int64_t t = stop - 1; t >= 0; --t) {
        k.panel_dots(x.data() + (t + 1) * panel, stop - t - 1, identity_.data(), columns_[t].data() + t + 1, dots);
        for (std::int64_t i = std::max(first, t); i < stop; ++i)
            x[t * panel + (i - first)] = ((i == t) - dots[i - first]) / diagonal_[t];
    }
    for (std::int64_t i = first; i < stop; ++i) {
        roots_[i] = diagonal_[i] < infinite ? std::sqrt(self[i - first]) : 0;
        double reach = 0, plain = 0;
        double* const g = g_.data() + i * pairs_;
        std::fill_n(g, pairs_, 0.0);
        for (std::int64_t t = 0; t <= i; ++t) {
            const double value = x[t * panel + (i - first)];
            reach += std::fabs(value) * roots_[t];
            plain += std::fabs(value);
            k.add_scaled(pairs_, value, of_.at_points.data() + t * pairs_, g);
        }
        reach_[i] = (i ? reach_[i - 1] : 0) + reach * reach;
        plain_[i] = (i ? plain_[i - 1] : 0) + plain * plain;
        for (std::int64_t p = 0; p < pairs_; ++p)
            g_squares_[i * pairs_ + p] = (i ? g_squares_[(i - 1) * pairs_ + p] : 0) + g[p] * g[p];
    }
}

PointSpan::Prefix PointSpan::prefix(std::int64_t k) const {
    Prefix out;
    const double n = static_cast<double>(k);
    const double sums = (n + 8) * unit * 1.01;  // B12, B13
    out.reach = std::sqrt(reach_[k - 1]) * (1 + 4 * sums);
    out.plain = std::sqrt(plain_[k - 1]) * (1 + 4 * sums);
    const double residual = sums * out.reach;                                                   // |X L - I|
    const double moved = sums * out.reach * out.reach + kernel_error_ * out.plain * out.plain;  // |X (L L' - K) X'|
    const double whole = 1 - std::min(residual, 0.5);
    out.skew =
        residual < 0.5 ? (1 + residual) * (1 + residual) * (1 + moved / (whole * whole)) - 1 + 16 * unit : infinite;
    const bool sound = out.skew < 0.5;
    for (std::vector<double>* each : {&out.perp, &out.stray, &out.g, &out.widths})
        each->resize(static_cast<std::size_t>(pairs_));
    for (std::int64_t p = 0; p < pairs_; ++p) {
        const double squares = g_squares_[(k - 1) * pairs_ + p];
        const double g = out.g[p] = std::sqrt(squares) * (1 + sums) + 1e-150;
        const double g_error = out.plain * of_.point_errors[p] + sums * out.reach * std::sqrt(of_.squared_norms[p]);
        // B11, B10
        const double perp = of_.squared_norms[p] - squares + sums * squares + 2 * g * g_error + out.skew * g * g;
        out.perp[p] = sound && std::isfinite(perp) ? std::sqrt(std::max(0.0, perp) * (1 + 1e-12)) + 1e-150 : infinite;
        out.stray[p] = sound ? 1.5 * (g_error + out.skew * g) * (1 + 1e-12) : infinite;
        if (sound && pairs_ <= most_measured) measure(k, p, out);
        out.widths[p] = out.perp[p] * out.perp[p];
    }
    return out;
}

// B14, from c = X'g: |w|^2 - 2 c.b + c'K c, and X (b - K c). The skew does not enter, so this is tighter for nearly
// dependent points.
void PointSpan::measure(std::int64_t k, std::int64_t pair, Prefix& out) const {
    const double sums = static_cast<double>(k + 8) * unit * 1.01;
    std::vector<double> c(static_cast<std::size_t>(k), 0.0), rest(c), product(c);
    const Loops& simd = loops();
    for (std::int64_t i = 0; i < k; ++i) {
        const double* const x = x_panels_[i / panel].data() + i % panel;
        for (std::int64_t t = 0; t <= i; ++t) c[t] += x[t * panel] * g_[i * pairs_ + pair];
    }
    double inner = 0, inner_size = 0, plain = 0, weighted = 0;
    for (std::int64_t t = 0; t < k; ++t) {
        if (roots_[t] == 0) c[t] = 0;  // absent
        const double b = of_.at_points[t * pairs_ + pair];
        inner += c[t] * b;
        inner_size += std::fabs(c[t] * b);
        plain += std::fabs(c[t]);
        weighted += std::fabs(c[t]) * roots_[t];
    }
    for (std::int64_t i = 0; i < k; ++i) {
        product[i] += simd.dot(i + 1, kernel_[i].data(), c.data());
        simd.add_scaled(i, c[i], kernel_[i].data(), product.data());
    }
    double square = 0, largest = 0;
    for (std::int64_t t = 0; t < k; ++t) {
        square += c[t] * product[t];
        rest[t] = roots_[t] == 0 ? 0 : of_.at_points[t * pairs_ + pair] - product[t];
        largest = std::max(largest, std::fabs(rest[t]));
    }
    // Upper bound of the distance of the computed c from X'g.
    const double off = sums * out.reach * out.g[pair];
    weighted *= 1 + 2 * sums;
    const double error = 2 * plain * of_.point_errors[pair] + 2 * sums * (inner_size + weighted * weighted) +
                         kernel_error_ * plain * plain;
    const double perp = std::sqrt(std::max(0.0, of_.squared_norms[pair] - 2 * inner + square) + error * (1 + 1e-9) +
                                  4 * unit * of_.squared_norms[pair]) *
                            (1 + 1e-12) +
                        off + 1e-150;
    double stray = 0;
    for (std::int64_t i = 0; i < k; ++i) {
        const double* const x = x_panels_[i / panel].data() + i % panel;
        double h = 0;
        for (std::int64_t t = 0; t <= i; ++t) h += x[t * panel] * rest[t];
        stray += h * h;
    }
    const double norm = std::sqrt(of_.squared_norms[pair]);
    stray = std::sqrt(stray) * (1 + 2 * sums) +
            out.plain * (of_.point_errors[pair] + kernel_error_ * plain + sums * largest) +
            out.reach * (sums * 2 * (norm + weighted) + off) + 1e-150;
    // NaN and infinity keep the earlier bounds.
    if (perp < out.perp[pair]) out.perp[pair] = perp;
    if (1.5 * stray * (1 + 1e-12) < out.stray[pair]) out.stray[pair] = 1.5 * stray * (1 + 1e-12);
}

void PointSpan::prepare(std::int64_t panels) const {
    if (ready_.load(std::memory_order_acquire) >= panels) return;
    const std::lock_guard<std::mutex> guard(lock_);
    for (std::int64_t block = ready_; block < panels; ++block) {
        factor(block);
        at_ends_[block] = prefix(std::min(k_, (block + 1) * panel));
        for (std::size_t i = 0; i < stops_.size(); ++i)
            if ((stops_[i] - 1) / panel == block) at_stops_[i] = prefix(std::min(k_, stops_[i]));
        ready_.store(block + 1, std::memory_order_release);
    }
}

}  // namespace fastsvm

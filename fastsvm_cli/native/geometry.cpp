#include "geometry.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t block_rows = 32;
constexpr std::int64_t measured_pairs = 4;  // k^2 products per pair and block are worth a tighter bound for so many
constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<std::int64_t> in_order(std::int64_t n) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) order[i] = i;
    return order;
}

}  // namespace

Geometry::Geometry(Machine machine, std::shared_ptr<const Rows> points, std::vector<double> b, std::vector<double> squared_norm, std::vector<double> b_error)
    : machine_(std::move(machine)), points_(std::move(points)), k_(points_->rows), pairs_(machine_.pairs()), b_(std::move(b)),
      squared_norm_(std::move(squared_norm)), b_error_(std::move(b_error)),
      strips_(machine_, *points_, in_order(k_)), rounding_(machine_, strips_.dense(), false) {
    rounding_.cover(*points_);
    for (std::int64_t i = 0; i < k_; ++i) {
        point_error_ = std::max(point_error_, rounding_.kernel_error(rounding_.row(*points_, i, false)));
    }
    const std::int64_t blocks = strips_.size() / strip;
    l_.resize(k_);
    columns_.resize(k_);
    kernel_.resize(k_);
    diagonal_.assign(static_cast<std::size_t>(k_), 0.0);
    identity_.resize(static_cast<std::size_t>(strips_.size()));
    for (std::size_t i = 0; i < identity_.size(); ++i) identity_[i] = static_cast<std::int32_t>(i);
    x_strips_.resize(blocks);
    prefix_.resize(blocks);
    g_.assign(static_cast<std::size_t>(strips_.size() * pairs_), 0.0);
    g_squares_.assign(static_cast<std::size_t>(k_ * pairs_), 0.0);
    reach_.assign(static_cast<std::size_t>(k_), 0.0);
    plain_.assign(static_cast<std::size_t>(k_), 0.0);
    roots_.assign(static_cast<std::size_t>(k_), 0.0);
}

double Geometry::self_kernel(double z) const {
    switch (machine_.kernel) {
        case KernelType::linear: return z;
        case KernelType::polynomial: return std::pow(machine_.gamma * z + machine_.coef0, machine_.degree);
        default: return 1;
    }
}

// The rows of L, X and g that belong to one block of points, side by side: rows of L by forward, of X by back substitution (X L = I), which
// is what the bounds of their errors assume. Memory is passed over once per block.
void Geometry::factor(std::int64_t block) const {
    const Kernels& k = kernels();
    const std::int64_t first = block * strip, end = first + strip, stop = std::min(k_, end);
    std::vector<double> kernel_values(static_cast<std::size_t>(strip * end)), scratch, self(strip, 1.0), rows(static_cast<std::size_t>(end * strip), 0.0);
    for (std::int64_t i = first; i < stop; ++i) {
        StripRow point;
        strips_.take(*points_, i, point);
        strips_.kernel_values(point, 0, end, kernel_values.data() + (i - first) * end, scratch);
        self[i - first] = self_kernel(points_->squared_norms[i]);
        if (pairs_ > measured_pairs) continue;
        const double* const row = kernel_values.data() + (i - first) * end;
        kernel_[i].assign(row, row + i);
        kernel_[i].push_back(self[i - first]);
    }
    double dots[strip];
    for (std::int64_t j = 0; j < stop; ++j) {
        std::vector<double>& l = l_[j];  // row j of L, without its diagonal
        if (j >= first) {
            l.resize(static_cast<std::size_t>(j));
            for (std::int64_t t = 0; t < j; ++t) l[t] = rows[t * strip + (j - first)];
        }
        k.strip_dots(rows.data(), j, identity_.data(), l.data(), dots);
        if (j >= first) {
            const double pivot = self[j - first] - dots[j - first];
            // A point in the span of those before it adds nothing: its rows of L, X and g are zero.
            const bool independent = pivot > 1e-12 * self[j - first] && std::isfinite(pivot);
            diagonal_[j] = independent ? std::sqrt(pivot) : infinite;
            if (!independent) {
                std::fill(l.begin(), l.end(), 0.0);
                for (std::int64_t t = 0; t < j; ++t) rows[t * strip + (j - first)] = 0;
            }
        }
        for (std::int64_t i = std::max(first, j + 1); i < stop; ++i) rows[j * strip + (i - first)] = (kernel_values[(i - first) * end + j] - dots[i - first]) / diagonal_[j];
    }
    for (std::int64_t t = 0; t < stop; ++t) {
        if (columns_[t].empty()) columns_[t].resize(static_cast<std::size_t>(strips_.size()), 0.0);
        std::copy_n(rows.data() + t * strip, strip, columns_[t].data() + first);
    }

    std::vector<double>& x = x_strips_[block];  // (end, strip), transposed
    x.assign(static_cast<std::size_t>(end * strip), 0.0);
    for (std::int64_t t = stop - 1; t >= 0; --t) {
        k.strip_dots(x.data() + (t + 1) * strip, stop - t - 1, identity_.data(), columns_[t].data() + t + 1, dots);
        for (std::int64_t i = std::max(first, t); i < stop; ++i) x[t * strip + (i - first)] = ((i == t) - dots[i - first]) / diagonal_[t];
    }
    for (std::int64_t i = first; i < stop; ++i) {
        roots_[i] = diagonal_[i] < infinite ? std::sqrt(self[i - first]) : 0;
        double reach = 0, plain = 0;
        double* const g = g_.data() + i * pairs_;
        std::fill_n(g, pairs_, 0.0);
        for (std::int64_t t = 0; t <= i; ++t) {
            const double value = x[t * strip + (i - first)];
            reach += std::fabs(value) * roots_[t];
            plain += std::fabs(value);
            k.add_scaled(pairs_, value, b_.data() + t * pairs_, g);
        }
        reach_[i] = (i ? reach_[i - 1] : 0) + reach * reach;
        plain_[i] = (i ? plain_[i - 1] : 0) + plain * plain;
        for (std::int64_t p = 0; p < pairs_; ++p) g_squares_[i * pairs_ + p] = (i ? g_squares_[(i - 1) * pairs_ + p] : 0) + g[p] * g[p];
    }
}

Geometry::Prefix Geometry::prefix(std::int64_t k) const {
    Prefix out;
    const double n = static_cast<double>(k);
    const double sums = (n + 8) * unit * 1.01;
    out.reach = std::sqrt(reach_[k - 1]) * (1 + 4 * sums);
    out.plain = std::sqrt(plain_[k - 1]) * (1 + 4 * sums);
    const double residual = sums * out.reach;                                                          // |X L - I|
    const double moved = sums * out.reach * out.reach + point_error_ * out.plain * out.plain;           // |X (L L' - K) X'|
    const double whole = 1 - std::min(residual, 0.5);
    out.skew = residual < 0.5 ? (1 + residual) * (1 + residual) * (1 + moved / (whole * whole)) - 1 + 16 * unit : infinite;
    const bool sound = out.skew < 0.5;
    out.perp.resize(static_cast<std::size_t>(pairs_));
    out.stray.resize(static_cast<std::size_t>(pairs_));
    out.g.resize(static_cast<std::size_t>(pairs_));
    for (std::int64_t p = 0; p < pairs_; ++p) {
        const double squares = g_squares_[(k - 1) * pairs_ + p];
        const double g = out.g[p] = std::sqrt(squares) * (1 + sums) + 1e-150;
        const double g_error = out.plain * b_error_[p] + sums * out.reach * std::sqrt(squared_norm_[p]);
        const double perp = squared_norm_[p] - squares + sums * squares + 2 * g * g_error + out.skew * g * g;
        out.perp[p] = sound && std::isfinite(perp) ? std::sqrt(std::max(0.0, perp) * (1 + 1e-12)) + 1e-150 : infinite;
        out.stray[p] = sound ? 1.5 * (g_error + out.skew * g) * (1 + 1e-12) : infinite;
        if (sound && pairs_ <= measured_pairs) measure(k, p, out);
    }
    return out;
}

// |w_perp| and its share in the span from c = X'g, the coefficients of the points themselves: |w|^2 - 2 c.b + c'K c, and X (b - K c). What X loses by its
// size is not in it, so that it is the tighter one where points are nearly dependent.
void Geometry::measure(std::int64_t k, std::int64_t pair, Prefix& out) const {
    const double sums = static_cast<double>(k + 8) * unit * 1.01;
    std::vector<double> c(static_cast<std::size_t>(k), 0.0), rest(c), product(c);
    const Kernels& kernel = kernels();
    for (std::int64_t i = 0; i < k; ++i) {
        const double* const x = x_strips_[i / strip].data() + i % strip;
        for (std::int64_t t = 0; t <= i; ++t) c[t] += x[t * strip] * g_[i * pairs_ + pair];
    }
    double inner = 0, inner_size = 0, plain = 0, weighted = 0;
    for (std::int64_t t = 0; t < k; ++t) {
        if (roots_[t] == 0) c[t] = 0;  // absent
        const double b = b_[t * pairs_ + pair];
        inner += c[t] * b;
        inner_size += std::fabs(c[t] * b);
        plain += std::fabs(c[t]);
        weighted += std::fabs(c[t]) * roots_[t];
    }
    for (std::int64_t i = 0; i < k; ++i) {
        product[i] += kernel.dot(i + 1, kernel_[i].data(), c.data());
        kernel.add_scaled(i, c[i], kernel_[i].data(), product.data());
    }
    double square = 0, largest = 0;
    for (std::int64_t t = 0; t < k; ++t) {
        square += c[t] * product[t];
        rest[t] = roots_[t] == 0 ? 0 : b_[t * pairs_ + pair] - product[t];
        largest = std::max(largest, std::fabs(rest[t]));
    }
    // c is computed; the coefficients meant are X'g without rounding, which are off by (k + 8) u |X|'|g|: as a vector of feature space at most
    const double off = sums * out.reach * out.g[pair];
    weighted *= 1 + 2 * sums;
    const double error = 2 * plain * b_error_[pair] + 2 * sums * (inner_size + weighted * weighted) + point_error_ * plain * plain;
    const double perp = std::sqrt(std::max(0.0, squared_norm_[pair] - 2 * inner + square) + error * (1 + 1e-9) + 4 * unit * squared_norm_[pair]) * (1 + 1e-12) + off + 1e-150;
    double stray = 0;
    for (std::int64_t i = 0; i < k; ++i) {
        const double* const x = x_strips_[i / strip].data() + i % strip;
        double h = 0;
        for (std::int64_t t = 0; t <= i; ++t) h += x[t * strip] * rest[t];
        stray += h * h;
    }
    const double norm = std::sqrt(squared_norm_[pair]);
    stray = std::sqrt(stray) * (1 + 2 * sums) + out.plain * (b_error_[pair] + point_error_ * plain + sums * largest) +
            out.reach * (sums * 2 * (norm + weighted) + off) + 1e-150;
    // NaN and infinity leave what was known.
    if (perp < out.perp[pair]) out.perp[pair] = perp;
    if (1.5 * stray * (1 + 1e-12) < out.stray[pair]) out.stray[pair] = 1.5 * stray * (1 + 1e-12);
}

void Geometry::prepare(std::int64_t blocks) const {
    if (ready_.load(std::memory_order_acquire) >= blocks) return;
    const std::lock_guard<std::mutex> guard(lock_);
    for (std::int64_t block = ready_; block < blocks; ++block) {
        factor(block);
        prefix_[block] = prefix(std::min(k_, (block + 1) * strip));
        ready_.store(block + 1, std::memory_order_release);
    }
}

// What a row keeps from block to block.
struct Geometry::Progress {
    StripRow row;
    Rounding::Row rounding;
    double kernel_error;
    double self, root;   // K(z, z) rounded up, and its root
    double squares;      // |y|^2
};

void Geometry::begin(const Rows& rows, std::int64_t row, Progress& out) const {
    strips_.take(rows, row, out.row);
    out.rounding = rounding_.row(rows, row, false);
    out.kernel_error = rounding_.kernel_error(out.rounding);
    const double entries = static_cast<double>(rows.end(row) - rows.begin(row));
    // |z|^2 errs by (q + 1) u, its polynomial by degree times that.
    const double z = length(rows.squared_norms[row], rows.end(row) - rows.begin(row));  // squares below the smallest double may be missing
    out.self = self_kernel(z * z) * (1 + (std::max(machine_.degree, 1) * (entries + 4) + 8) * unit * 1.01);
    out.root = std::sqrt(out.self) * (1 + 4 * unit);
    out.squares = 0;
}

// Value and radius of every pair after the first k points. projection: (pairs) g.y.
void Geometry::bound(const Prefix& prefix, std::int64_t k, const Progress& row, const double* projection, double* value, double* radius) const {
    const double n = static_cast<double>(k), sums = (n + 8) * unit * 1.01;
    const double y_error = prefix.plain * row.kernel_error + sums * row.root * prefix.reach;
    const double size = std::max(row.self, row.squares);
    const double rest = row.self - row.squares + size * (prefix.skew + sums) + 2 * y_error * std::sqrt(size);
    const double beside = std::isfinite(rest) ? std::sqrt(std::max(0.0, rest)) * (1 + 1e-12) : infinite;
    for (std::int64_t p = 0; p < pairs_; ++p) {
        value[p] = projection[p] - machine_.rho[p];
        const double distance = prefix.perp[p] * beside + prefix.stray[p] * row.root + prefix.g[p] * (y_error + sums * std::sqrt(size));
        radius[p] = distance * (1 + 1e-9) + rounding_.radius(p, row.rounding, value[p]);
        if (!(radius[p] < infinite)) value[p] = 0, radius[p] = infinite;  // NaN proves nothing
    }
}

struct Geometry::Block {
    std::vector<Progress> rows;
    std::vector<double> kernel_values;  // (block_rows, points)
    std::vector<double> y;              // (4, strip)
    std::vector<double> projection;     // (block_rows, pairs)
    std::vector<double> scratch, radius;
    std::vector<std::int64_t> active;
};

std::vector<std::int64_t> Geometry::decision_values(const Rows& rows, const Task& task, double tolerance, std::int64_t steps, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t last_point = steps > 0 ? std::min(steps, k_) : k_;
    const std::int64_t blocks = (last_point + strip - 1) / strip;
    const Kernels& k = kernels();
    Prefix partial;  // where the last block is not taken whole
    if (last_point && last_point != std::min(k_, blocks * strip)) {
        prepare(blocks);
        partial = prefix(last_point);
    }
    std::vector<char> open(static_cast<std::size_t>(rows.rows), 0);
    std::atomic<std::int64_t> evaluations{0};
    parallel_for(rows.rows, block_rows, [&](std::int64_t first, std::int64_t last) {
        Block block;
        Settled settled(task, tolerance);
        block.rows.resize(block_rows);
        block.kernel_values.resize(static_cast<std::size_t>(block_rows * blocks * strip));
        block.y.resize(4 * strip);
        block.projection.resize(static_cast<std::size_t>(block_rows * pairs_));
        block.radius.resize(static_cast<std::size_t>(pairs_));
        std::int64_t done = 0;
        for (; first < last; first += block_rows) {
            const std::int64_t stop = std::min(last, first + block_rows);
            block.active.clear();
            for (std::int64_t r = first; r < stop; ++r) {
                begin(rows, r, block.rows[r - first]);
                block.active.push_back(r - first);
                double* const value = out.value.data() + r * pairs_;
                for (std::int64_t p = 0; p < pairs_; ++p) value[p] = -machine_.rho[p];
                if (out.with_radius) std::fill_n(out.radius.data() + r * pairs_, pairs_, infinite);
            }
            std::fill(block.projection.begin(), block.projection.end(), 0.0);
            for (std::int64_t b = 0; b < blocks && !block.active.empty(); ++b) {
                prepare(b + 1);
                const std::int64_t end = std::min(last_point, (b + 1) * strip), here = end - b * strip;
                const Prefix& prefix = end == last_point && !partial.perp.empty() ? partial : prefix_[b];
                const auto values_of = [&](std::int64_t r) { return block.kernel_values.data() + r * blocks * strip; };
                for (std::int64_t r : block.active) strips_.kernel_values(block.rows[r].row, b * strip, (b + 1) * strip, values_of(r) + b * strip, block.scratch);
                done += here * static_cast<std::int64_t>(block.active.size());
                std::size_t kept = 0;
                for (std::size_t at = 0; at < block.active.size(); at += 4) {
                    const std::size_t group = std::min<std::size_t>(4, block.active.size() - at);
                    const double* x[4];
                    double* y[4];
                    for (std::size_t j = 0; j < 4; ++j) {
                        x[j] = values_of(block.active[at + std::min(j, group - 1)]);
                        y[j] = block.y.data() + j * strip;
                    }
                    k.strip_products(x_strips_[b].data(), (b + 1) * strip, x, y);
                    for (std::size_t j = 0; j < group; ++j) {
                        const std::int64_t r = block.active[at + j];
                        double* const projection = block.projection.data() + r * pairs_;
                        double* const value = out.value.data() + (first + r) * pairs_;
                        if (pairs_ == 1) projection[0] += k.dot(here, y[j], g_.data() + b * strip);
                        else
                            for (std::int64_t s = 0; s < here; ++s) k.add_scaled(pairs_, y[j][s], g_.data() + (b * strip + s) * pairs_, projection);
                        block.rows[r].squares += k.dot(here, y[j], y[j]);
                        double* const radius = out.with_radius ? out.radius.data() + (first + r) * pairs_ : block.radius.data();
                        bound(prefix, end, block.rows[r], projection, value, radius);
                        if (!settled(value, radius)) block.active[kept++] = r;
                    }
                }
                block.active.resize(kept);
            }
            for (std::int64_t r : block.active) open[first + r] = 1;
        }
        evaluations += done;
    });
    out.kernel_evaluations = evaluations;
    std::vector<std::int64_t> left;
    for (std::int64_t r = 0; r < rows.rows; ++r)
        if (open[r]) left.push_back(r);
    return left;
}

}  // namespace fastsvm

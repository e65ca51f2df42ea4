#include "models/blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "simd/parallel.h"

namespace fastsvm {

namespace {
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t none = -1, open = -2;
// Coordinates of all boxes together. Where they would be more, as for sparse vectors of very many features, there are
// no boxes, and every block is evaluated.
constexpr double most_cells = 1 << 24;
// Covers exp and a few products; distances are moved by more than their own rounding beforehand (B20).
constexpr double up = 1 + 1e-13;
// Makes lower bounds of sums that are rounded up (B20).
constexpr double certain = 1 - 1e-9;

// A permutation that keeps every class where it is.
bool keeps_classes(const SvmModel& model, const std::vector<std::int64_t>& order) {
    std::vector<char> seen(order.size(), 0);
    std::int64_t first = 0, at = 0;
    if (static_cast<std::int64_t>(order.size()) != model.total_sv()) return false;
    for (std::int64_t n : model.nr_sv) {
        for (std::int64_t i = 0; i < n; ++i, ++at) {
            if (order[at] < first || order[at] >= first + n || seen[order[at]]) return false;
            seen[order[at]] = 1;
        }
        first += n;
    }
    return true;
}
}  // namespace

Blocks::Layout Blocks::lay_out(const SvmModel& model, const std::vector<std::int64_t>& order) {
    if (!keeps_classes(model, order))
        throw std::invalid_argument("not an order of the support vectors, class by class");
    Layout out;
    std::int64_t at = 0;
    for (std::int64_t n : model.nr_sv) {
        out.class_start.push_back(static_cast<std::int64_t>(out.size.size()));
        for (std::int64_t k = 0; k < n; k += lanes) {
            const std::int64_t size = std::min<std::int64_t>(lanes, n - k);
            out.size.push_back(size);
            for (std::int64_t s = 0; s < lanes; ++s) out.order.push_back(s < size ? order[at + s] : -1);
            at += size;
        }
    }
    out.class_start.push_back(static_cast<std::int64_t>(out.size.size()));
    return out;
}

Blocks::Blocks(SvmModel model, const std::vector<std::int64_t>& order)
    : model_(std::move(model)),
      pairs_(model_.pairs()),
      layout_(lay_out(model_, order)),
      strips_(model_.kernel, *model_.vectors, layout_.order),
      rounding_(model_, strips_.dense(), false) {
    const Rows& sv = *model_.vectors;
    const std::int64_t leading_count = sv.leading_count, d = strips_.features();
    blocks_ = static_cast<std::int64_t>(layout_.size.size());
    padded_ = blocks_ * lanes;
    const std::int64_t groups = (blocks_ + lanes - 1) / lanes;
    coef_.assign(static_cast<std::size_t>(padded_ * leading_count), 0.0);
    positive_.assign(static_cast<std::size_t>(blocks_ * leading_count), 0.0);
    negative_.assign(static_cast<std::size_t>(blocks_ * leading_count), 0.0);
    for (std::int64_t j = 0; j < leading_count; ++j)
        for (std::int64_t s = 0; s < padded_; ++s) {
            if (layout_.order[s] < 0) continue;
            const double a = coef_[j * padded_ + s] = sv.leading[layout_.order[s] * leading_count + j];
            (a > 0 ? positive_ : negative_)[j * blocks_ + s / lanes] += std::fabs(a) * (1 + 2 * lanes * unit);
        }
    std::vector<double> weight(static_cast<std::size_t>(pairs_), 0.0);
    for (std::int64_t c = 0; c < model_.classes(); ++c)
        for_each_pair(model_, c, [&](std::int64_t pair, std::int64_t column) {
            for (std::int64_t b = layout_.class_start[c]; b < layout_.class_start[c + 1]; ++b)
                weight[pair] += positive_[column * blocks_ + b] + negative_[column * blocks_ + b];
        });
    for (double w : weight)
        pair_weight_ = std::max(pair_weight_, w * (1 + static_cast<double>(2 * blocks_ + 8) * unit));

    if (!strips_.dense() && static_cast<double>(2 * groups * lanes) * static_cast<double>(d) > most_cells) return;
    boxes_.assign(static_cast<std::size_t>(groups * d * 2 * lanes), 0.0);
    std::vector<double> dense(static_cast<std::size_t>(d));
    for (std::int64_t b = 0; b < blocks_; ++b) {
        double* const lo = boxes_.data() + b / lanes * d * 2 * lanes + b % lanes;
        for (std::int64_t s = 0; s < layout_.size[b]; ++s) {
            strips_.spread(sv, layout_.order[b * lanes + s], dense.data());
            for (std::int64_t j = 0; j < d; ++j) {
                double& low = lo[j * 2 * lanes];
                double& high = lo[j * 2 * lanes + lanes];
                low = s ? std::min(low, dense[j]) : dense[j];
                high = s ? std::max(high, dense[j]) : dense[j];
            }
        }
    }
}

struct Blocks::Row {
    StripRow row;
    Rounding::Row rounding;
    // (groups lanes): bounds of |z - x|^2 for the vectors x of every block; then of their kernel values, from below
    // (far) with one decision function only.
    std::vector<double> near, far;
    std::vector<double> guess;          // (blocks): near + far, as squared distances
    std::vector<double> kernel_values;  // (padded)
    std::vector<char> evaluated;        // (blocks)
    std::vector<double> scratch, dense;
    std::vector<std::pair<double, std::int64_t>> queue;
    std::vector<char> lost;  // (classes): proven to lose a pair
    // (the least guess of its blocks, the class) of every class, increasing.
    std::vector<std::pair<double, std::int64_t>> rivals;
    // Kernel values, those of the boxes' nearest and farthest points among them.
    std::int64_t evaluations = 0;
};

// Looks at all boxes.
void Blocks::look(const Rows& rows, std::int64_t row, Row& out) const {
    const std::int64_t d = strips_.features(), groups = (blocks_ + lanes - 1) / lanes;
    const Loops& k = loops();
    strips_.take(rows, row, out.row);
    out.rounding = rounding_.row(rows, row, false);
    out.evaluated.assign(static_cast<std::size_t>(blocks_), 0);
    out.kernel_values.resize(static_cast<std::size_t>(padded_));
    if (boxes_.empty()) {
        out.guess.assign(static_cast<std::size_t>(blocks_), 0.0);
        out.near.assign(static_cast<std::size_t>(blocks_), up);
        out.far.assign(static_cast<std::size_t>(blocks_), 0.0);
        return;
    }
    out.dense.resize(static_cast<std::size_t>(d));
    const double outside = strips_.spread(rows, row, out.dense.data());
    out.near.resize(static_cast<std::size_t>(groups * lanes));
    out.far.resize(static_cast<std::size_t>(groups * lanes));
    out.guess.resize(static_cast<std::size_t>(blocks_));
    for (std::int64_t g = 0; g < groups; ++g)
        k.box_distances(boxes_.data() + g * d * 2 * lanes, d, out.dense.data(), outside, out.near.data() + g * lanes,
                        out.far.data() + g * lanes);
    // B19: sums of d + q rounded squares, and the rounding of what follows.
    const double slack = static_cast<double>(d + rows.end(row) - rows.begin(row) + 32) * unit;
    const bool exponential = model_.kernel.type == KernelType::exponential;
    for (std::int64_t b = 0; b < groups * lanes; ++b) {
        if (b < blocks_) out.guess[b] = out.near[b] + out.far[b];
        out.near[b] *= 1 - slack;
        out.far[b] *= 1 + slack;
        if (exponential)
            out.near[b] = std::sqrt(out.near[b]) * (1 - 4 * unit), out.far[b] = std::sqrt(out.far[b]) * (1 + 4 * unit);
    }
    const bool both = pairs_ == 1;  // with several classes, kernel values are bounded from below by 0
    k.exp_of_norms(groups * lanes, model_.kernel.gamma, out.near.data());
    if (both) k.exp_of_norms(groups * lanes, model_.kernel.gamma, out.far.data());
    for (std::int64_t b = 0; b < blocks_; ++b) {
        out.near[b] = out.near[b] * up + 1e-300;  // below e^-708 it was taken for 0
        if (both) out.far[b] *= certain;
    }
    out.evaluations += both ? 2 * blocks_ : blocks_;
}

void Blocks::evaluate(Row& row, std::int64_t block) const {
    strips_.kernel_values(row.row, block * lanes, (block + 1) * lanes, row.kernel_values.data() + block * lanes,
                          row.scratch);
    row.evaluated[block] = 1;
    row.evaluations += layout_.size[block];
}

bool Blocks::settle_one(Row& row, Settled& settled, double* value, double* radius) const {
    const Loops& k = loops();
    double sum = 0, low = 0, high = 0;
    const auto bounds = [&](std::int64_t b, double& least, double& most) {
        least = positive_[b] * row.far[b] - negative_[b] * row.near[b];
        most = positive_[b] * row.near[b] - negative_[b] * row.far[b];
    };
    row.queue.clear();
    for (std::int64_t b = 0; b < blocks_; ++b) {
        double least, most;
        bounds(b, least, most);
        low += least;
        high += most;
        row.queue.emplace_back(most - least, b);
    }
    std::make_heap(row.queue.begin(), row.queue.end());
    // B17. Every block is added to, and taken from, sums of numbers that are at most their weight together.
    const double sums = 8 * static_cast<double>(blocks_ + 8) * unit * pair_weight_;
    for (;;) {
        value[0] = sum + (low + high) / 2 - model_.rho[0];
        radius[0] = std::max(0.0, high - low) / 2 + sums + rounding_.radius(0, row.rounding, value[0]);
        if (!(radius[0] < infinite)) value[0] = 0, radius[0] = infinite;
        if (settled(value, radius)) return true;
        if (row.queue.empty()) return false;
        const std::int64_t b = row.queue.front().second;
        std::pop_heap(row.queue.begin(), row.queue.end());
        row.queue.pop_back();
        evaluate(row, b);
        double least, most;
        bounds(b, least, most);
        low -= least;
        high -= most;
        sum += k.dot(lanes, coef_.data() + b * lanes, row.kernel_values.data() + b * lanes);
    }
}

// Proves that the class w wins all its pairs (B17, B21): `none`; or names the class it is proven to lose to, or `open`
// where rounding leaves a pair undecided. Values and radii of these pairs are set as far as it comes.
std::int64_t Blocks::loses_to(Row& row, std::int64_t w, double* value, double* radius) const {
    const Loops& k = loops();
    const std::int64_t first = layout_.class_start[w], stop = layout_.class_start[w + 1];
    for (std::int64_t b = first; b < stop; ++b)
        if (!row.evaluated[b]) evaluate(row, b);
    const double sums = 8 * static_cast<double>(blocks_ + 8) * unit * pair_weight_;
    // The nearest class first, so that a wrong guess of the winner is seen early.
    for (const auto& [_, c] : row.rivals) {
        if (c == w) continue;
        const std::int64_t pair = model_.pair_of(std::min(c, w), std::max(c, w));
        const std::int64_t own = c > w ? c - 1 : c, column = w > c ? w - 1 : w;
        double known = k.dot((stop - first) * lanes, coef_.data() + own * padded_ + first * lanes,
                             row.kernel_values.data() + first * lanes);
        // What the blocks of c that are not evaluated can add. Kernel values are taken to be 0 or more: better lower
        // bounds of them are not worth a look.
        double low = 0, high = 0;
        const double* const positive = positive_.data() + column * blocks_;
        const double* const negative = negative_.data() + column * blocks_;
        const double* const coef = coef_.data() + column * padded_;
        row.queue.clear();
        std::size_t taken = 0;  // blocks of the queue that have been evaluated, the least certain first
        for (std::int64_t b = layout_.class_start[c]; b < layout_.class_start[c + 1]; ++b) {
            if (row.evaluated[b]) {
                known += k.dot(lanes, coef + b * lanes, row.kernel_values.data() + b * lanes);
                continue;
            }
            low -= negative[b] * row.near[b];
            high += positive[b] * row.near[b];
            row.queue.emplace_back((positive[b] + negative[b]) * row.near[b], b);
        }
        for (;;) {
            value[pair] = known + (low + high) / 2 - model_.rho[pair];
            radius[pair] = std::max(0.0, high - low) / 2 + sums + rounding_.radius(pair, row.rounding, value[pair]);
            if (!(radius[pair] < infinite)) value[pair] = 0, radius[pair] = infinite;
            const bool above = value[pair] > radius[pair], below = -value[pair] > radius[pair];
            if (w < c ? above : below) break;
            if (w < c ? below : above) return c;
            if (taken == row.queue.size()) return open;
            const auto least_certain =
                std::max_element(row.queue.begin() + static_cast<std::ptrdiff_t>(taken), row.queue.end(),
                                 [](const auto& x, const auto& y) { return x.first < y.first; });
            std::swap(row.queue[taken], *least_certain);
            const std::int64_t b = row.queue[taken++].second;
            evaluate(row, b);
            low += negative[b] * row.near[b];
            high -= positive[b] * row.near[b];
            known += k.dot(lanes, coef + b * lanes, row.kernel_values.data() + b * lanes);
        }
    }
    return none;
}

bool Blocks::settle_classes(Row& row, double* value, double* radius) const {
    const std::int64_t classes = model_.classes();
    row.rivals.clear();
    for (std::int64_t c = 0; c < classes; ++c) {
        double nearest = infinite;
        for (std::int64_t b = layout_.class_start[c]; b < layout_.class_start[c + 1]; ++b)
            nearest = std::min(nearest, row.guess[b]);
        row.rivals.emplace_back(nearest, c);
    }
    std::sort(row.rivals.begin(), row.rivals.end());
    row.lost.assign(static_cast<std::size_t>(classes), 0);
    std::int64_t next = row.rivals[0].second;
    // A class that has lost a pair may still be voted for; a row that needs so many guesses is as well evaluated in
    // full.
    for (int attempt = 0; attempt < 5 && next >= 0; ++attempt) {
        std::fill_n(value, pairs_, 0.0);
        std::fill_n(radius, pairs_, infinite);
        const std::int64_t better = loses_to(row, next, value, radius);
        if (better == none) return true;
        if (better == open) return false;
        row.lost[next] = 1;
        next = row.lost[better] ? -1 : better;
        for (std::size_t i = 0; next < 0 && i < row.rivals.size(); ++i)
            if (!row.lost[row.rivals[i].second]) next = row.rivals[i].second;
    }
    return false;
}

std::vector<std::int64_t> Blocks::decision_values(const Rows& rows, const Task& task, double tolerance,
                                                  Decisions& out) const {
    out.resize(rows.rows);
    std::vector<char> left_open(static_cast<std::size_t>(rows.rows), 0);
    parallel_for(rows.rows, 64, [&](std::int64_t first, std::int64_t last) {
        Settled settled(task, tolerance);
        Row row;
        std::vector<double> radius(static_cast<std::size_t>(pairs_));
        for (std::int64_t r = first; r < last; ++r) {
            double* const value = out.value.data() + r * pairs_;
            double* const row_radius = out.with_radius ? out.radius.data() + r * pairs_ : radius.data();
            row.evaluations = 0;
            look(rows, r, row);
            if (pairs_ == 1)
                left_open[r] = !settle_one(row, settled, value, row_radius);
            else if (pairs_ > 1)
                left_open[r] = !settle_classes(row, value, row_radius);
            out.evaluations[r] = row.evaluations;
        }
    });
    return flagged_rows(left_open);
}

}  // namespace fastsvm

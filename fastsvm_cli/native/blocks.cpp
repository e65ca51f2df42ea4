#include "blocks.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "parallel.h"

namespace fastsvm {

namespace {
constexpr double infinite = std::numeric_limits<double>::infinity();
// Blocks whose kernel values are all below this are not told apart: together they are worth less than this times all coefficients.
constexpr double negligible = 1e-10;
constexpr double up = 1 + 1e-13;        // exp and a few products, beyond what the distances were moved by
constexpr double certain = 1 - 1e-9;    // sums that are rounded up, as lower bounds
}  // namespace

Blocks::Blocks(Machine machine, const std::vector<std::int64_t>& order) : machine_(std::move(machine)), pairs_(machine_.pairs()) {
    const Rows& sv = *machine_.vectors;
    const std::int64_t leading = sv.leading;
    std::int64_t at = 0;
    for (std::int64_t c = 0; c < machine_.classes(); ++c)
        for (std::int64_t k = 0; k < machine_.nr_sv[c]; k += strip) {
            const std::int64_t size = std::min<std::int64_t>(strip, machine_.nr_sv[c] - k);
            class_of_.push_back(static_cast<std::int32_t>(c));
            size_.push_back(size);
            for (std::int64_t s = 0; s < strip; ++s) order_.push_back(s < size ? order[at + s] : -1);
            at += size;
        }
    blocks_ = static_cast<std::int64_t>(size_.size());
    const std::int64_t padded = blocks_ * strip;
    coef_.assign(static_cast<std::size_t>(padded * leading), 0.0);
    for (std::int64_t s = 0; s < padded; ++s)
        for (std::int64_t j = 0; order_[s] >= 0 && j < leading; ++j) coef_[j * padded + s] = sv.labels[order_[s] * leading + j];
    centers_.resize(static_cast<std::size_t>(blocks_));
    radius_.resize(static_cast<std::size_t>(blocks_));
    weight_.assign(static_cast<std::size_t>(blocks_), 0.0);
    positive_.assign(static_cast<std::size_t>(blocks_ * leading), 0.0);
    negative_.assign(static_cast<std::size_t>(blocks_ * leading), 0.0);
    pair_weight_.assign(static_cast<std::size_t>(pairs_), 0.0);
    parallel_for(blocks_, 4, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t b = first; b < last; ++b) {
            // The member whose farthest fellow is nearest.
            double best = infinite;
            for (std::int64_t i = 0; i < size_[b]; ++i) {
                double farthest = 0, slack = 0;
                for (std::int64_t j = 0; j < size_[b] && farthest < best; ++j) {
                    const std::int64_t x = order_[b * strip + i], y = order_[b * strip + j];
                    farthest = std::max(farthest, reference_squared_distance(sv, x, sv, y));
                    slack = std::max(slack, static_cast<double>(sv.end(x) - sv.begin(x) + sv.end(y) - sv.begin(y) + 8) * unit);
                }
                if (farthest < best) {
                    best = farthest;
                    centers_[b] = order_[b * strip + i];
                    radius_[b] = std::sqrt(farthest) * (1 + slack);
                }
            }
            for (std::int64_t j = 0; j < leading; ++j) {
                for (std::int64_t s = b * strip; s < b * strip + size_[b]; ++s) {
                    const double a = coef_[j * padded + s];
                    (a > 0 ? positive_ : negative_)[b * leading + j] += std::fabs(a);
                }
                positive_[b * leading + j] *= 1 + 40 * unit;
                negative_[b * leading + j] *= 1 + 40 * unit;
                weight_[b] = std::max(weight_[b], positive_[b * leading + j] + negative_[b * leading + j]);
            }
        }
    });
    for (std::int64_t b = 0; b < blocks_; ++b)
        for_each_pair(machine_, class_of_[b], [&](std::int64_t pair, std::int64_t column) { pair_weight_[pair] += positive_[b * leading + column] + negative_[b * leading + column]; });
    for (double& weight : pair_weight_) weight *= 1 + static_cast<double>(blocks_ + 8) * unit;
    strips_.emplace_back(machine_, sv, order_);
    heads_.emplace_back(machine_, sv, centers_);
    rounding_.emplace_back(machine_, strips_[0].dense(), false);
}

struct Blocks::Scratch {
    StripRow row;
    std::vector<double> distance, nearest, farthest;      // (heads padded); the latter two become kernel values
    std::vector<double> zeros;
    std::vector<double> sum, low, high;                   // (pairs): evaluated blocks; bounds of the others
    std::vector<std::pair<double, std::int64_t>> queue;   // uncertainty, block: a heap
    double kernel_values[strip];
    std::int64_t evaluations = 0;
};

bool Blocks::settle(const Rows& rows, std::int64_t row, Settled& settled, Scratch& scratch, double* value, double* radius) const {
    const Strips& heads = heads_[0];
    const Kernels& k = kernels();
    const std::int64_t leading = machine_.vectors->leading, padded = blocks_ * strip, head_count = heads.size();
    const bool exponential = machine_.kernel == KernelType::exponential;
    const Rounding::Row rounding = rounding_[0].row(rows, row, false);
    heads.take(rows, row, scratch.row);
    scratch.distance.resize(static_cast<std::size_t>(head_count));
    scratch.nearest.assign(static_cast<std::size_t>(head_count), 0.0);
    scratch.farthest.assign(static_cast<std::size_t>(head_count), 0.0);
    heads.squared_distances(scratch.row, 0, head_count, scratch.distance.data(), scratch.zeros);
    scratch.evaluations += blocks_;
    const double error = rounding_[0].squared_distance_error(rows, row);
    for (std::int64_t b = 0; b < blocks_; ++b) {
        const double squared = scratch.distance[b];
        // Moved by more than their own rounding and that of the exponents.
        const double near = std::max(0.0, std::sqrt(std::max(0.0, squared - error)) * (1 - 8 * unit) - radius_[b] * (1 + 8 * unit));
        const double far = (std::sqrt(squared + error) + radius_[b]) * (1 + 8 * unit);
        scratch.nearest[b] = exponential ? near * (1 - 8 * unit) : near * near * (1 - 8 * unit);
        scratch.farthest[b] = exponential ? far * (1 + 8 * unit) : far * far * (1 + 8 * unit);
    }
    k.exp_of_norms(head_count, machine_.gamma, scratch.nearest.data());
    k.exp_of_norms(head_count, machine_.gamma, scratch.farthest.data());

    std::fill(scratch.sum.begin(), scratch.sum.end(), 0.0);
    std::fill(scratch.low.begin(), scratch.low.end(), 0.0);
    std::fill(scratch.high.begin(), scratch.high.end(), 0.0);
    scratch.queue.clear();
    double neglected = 1e-300;  // what exp_of_norms takes for 0
    const auto bounds = [&](std::int64_t b, std::int64_t column, double& low, double& high) {
        const double largest = scratch.nearest[b] * up, smallest = scratch.farthest[b] * certain;
        const double positive = positive_[b * leading + column], negative = negative_[b * leading + column];
        low = positive * smallest - negative * largest;
        high = positive * largest - negative * smallest;
    };
    for (std::int64_t b = 0; b < blocks_; ++b) {
        if (scratch.nearest[b] < negligible) {
            neglected = std::max(neglected, scratch.nearest[b] * up);
            continue;
        }
        for_each_pair(machine_, class_of_[b], [&](std::int64_t pair, std::int64_t column) {
            double low, high;
            bounds(b, column, low, high);
            scratch.low[pair] += low;
            scratch.high[pair] += high;
        });
        scratch.queue.emplace_back((scratch.nearest[b] - scratch.farthest[b]) * weight_[b], b);
    }
    std::make_heap(scratch.queue.begin(), scratch.queue.end());
    // Every block is added to, and taken from, sums of numbers that are at most the weight of their pair.
    const double sums = 8 * static_cast<double>(blocks_ + 8) * unit;
    const auto ask = [&] {
        for (std::int64_t p = 0; p < pairs_; ++p) {
            value[p] = scratch.sum[p] + (scratch.low[p] + scratch.high[p]) / 2 - machine_.rho[p];
            radius[p] = std::max(0.0, scratch.high[p] - scratch.low[p]) / 2 + pair_weight_[p] * (neglected + sums) + rounding_[0].radius(p, rounding, value[p]);
            if (!(radius[p] < infinite)) value[p] = 0, radius[p] = infinite;
        }
        return settled(value, radius);
    };
    const std::int64_t stride = pairs_ == 1 ? 1 : std::min<std::int64_t>(8, 2 + pairs_ / 32);
    for (std::int64_t done = 0;; ++done) {
        if ((done % stride == 0 || scratch.queue.empty()) && ask()) return true;
        if (scratch.queue.empty()) return false;
        const std::int64_t b = scratch.queue.front().second;
        std::pop_heap(scratch.queue.begin(), scratch.queue.end());
        scratch.queue.pop_back();
        strips_[0].kernel_values(scratch.row, b * strip, (b + 1) * strip, scratch.kernel_values, scratch.zeros);
        scratch.evaluations += size_[b];
        for_each_pair(machine_, class_of_[b], [&](std::int64_t pair, std::int64_t column) {
            double low, high;
            bounds(b, column, low, high);
            scratch.low[pair] -= low;
            scratch.high[pair] -= high;
            scratch.sum[pair] += k.dot(strip, coef_.data() + column * padded + b * strip, scratch.kernel_values);
        });
    }
}

std::vector<std::int64_t> Blocks::decision_values(const Rows& rows, const Task& task, double tolerance, Decisions& out) const {
    out.resize(rows.rows);
    std::vector<char> open(static_cast<std::size_t>(rows.rows), 0);
    std::atomic<std::int64_t> evaluations{0};
    parallel_for(rows.rows, 64, [&](std::int64_t first, std::int64_t last) {
        Settled settled(task, tolerance);
        Scratch scratch;
        for (auto* sums : {&scratch.sum, &scratch.low, &scratch.high}) sums->resize(static_cast<std::size_t>(pairs_));
        std::vector<double> radius(static_cast<std::size_t>(pairs_));
        for (std::int64_t r = first; r < last; ++r)
            open[r] = !settle(rows, r, settled, scratch, out.value.data() + r * pairs_, out.with_radius ? out.radius.data() + r * pairs_ : radius.data());
        evaluations += scratch.evaluations;
    });
    out.kernel_evaluations = evaluations;
    std::vector<std::int64_t> left;
    for (std::int64_t r = 0; r < rows.rows; ++r)
        if (open[r]) left.push_back(r);
    return left;
}

}  // namespace fastsvm

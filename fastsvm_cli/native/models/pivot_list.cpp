#include "models/pivot_list.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "exact/reference/rounding.h"

namespace fastsvm {

namespace {
// Margins for exp and a few products. Distances get more than their own rounding and the exponent's (B20).
constexpr double higher = 1 + 1e-13, lower = 1 - 1e-13, further = 1 + 4 * unit, nearer = 1 - 4 * unit;
}  // namespace

PivotList::PivotList(const SvmModel& model, std::int64_t pivot, std::vector<std::int64_t> members,
                     const std::vector<std::int32_t>& class_of, const std::vector<std::int64_t>& stops)
    : kernel(model.kernel), pairs(static_cast<std::size_t>(model.pairs())), order(std::move(members)) {
    const Rows& sv = *model.vectors;
    const std::int64_t leading_count = sv.leading_count, n = stops.back();
    // Relative error: (s + s' + 3) u for the sum of squares, half of that for its root (B18).
    std::vector<double> distance(static_cast<std::size_t>(sv.rows));
    double slack = 0;
    for (std::int64_t i = 0; i < sv.rows; ++i) {
        distance[i] = std::sqrt(reference_squared_distance(sv, pivot, sv, i));
        slack =
            std::max(slack, static_cast<double>(sv.end(i) - sv.begin(i) + sv.end(pivot) - sv.begin(pivot) + 8) * unit);
    }
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return distance[a] != distance[b] ? distance[a] < distance[b] : a < b;
    });

    const bool exponential = kernel.type == KernelType::exponential;
    const std::size_t cells = stops.size() * pairs;
    rest.assign(stops.size(), Rest{0, 0, 0});
    positive.assign(cells, 0.0);
    negative.assign(cells, 0.0);
    if (exponential) {
        weighted_positive.assign(cells, 0.0);
        weighted_negative.assign(cells, 0.0);
    }
    const double raised = 1 + unit * static_cast<double>(n + 4) * 1.01;  // a sum of n positive numbers, rounded up
    std::vector<double> plus(pairs, 0.0), minus(plus), weighted_plus(plus), weighted_minus(plus);
    double most_moved = 0;
    for (std::int64_t at = static_cast<std::int64_t>(stops.size()) - 2; at >= 0; --at) {
        for (std::int64_t s = stops[at + 1] - 1; s >= stops[at]; --s) {
            const std::int64_t i = order[s];
            // B20.
            const double moved = slack * (2 + kernel.gamma * distance[i]) + 8 * unit;
            const double weight = exponential ? std::exp(-kernel.gamma * distance[i]) * (1 + moved) : 0;
            most_moved = std::max(most_moved, moved);
            for_each_pair(model, class_of[i], [&](std::int64_t pair, std::int64_t column) {
                const double a = sv.leading[i * leading_count + column];
                (a > 0 ? plus : minus)[pair] += std::fabs(a);
                if (exponential) (a > 0 ? weighted_plus : weighted_minus)[pair] += std::fabs(a) * weight;
            });
        }
        const double nearest = distance[order[stops[at]]], farthest = distance[order[n - 1]];
        rest[at] = {nearest * (1 - slack), nearest * (1 + slack), farthest * (1 + slack)};
        const std::size_t cell = static_cast<std::size_t>(at) * pairs;
        for (std::size_t p = 0; p < pairs; ++p) {
            positive[cell + p] = plus[p] * raised;
            negative[cell + p] = minus[p] * raised;
            if (!exponential) continue;
            // Products may underflow, which eqs. (16) and (17) may magnify.
            weighted_positive[cell + p] = weighted_plus[p] * raised + 1e-323 * (static_cast<double>(n + 4) + plus[p]);
            weighted_negative[cell + p] = weighted_minus[p] * raised + 1e-323 * (static_cast<double>(n + 4) + minus[p]);
        }
    }
    certain = 1 - std::max(1e-9, 2.02 * unit * static_cast<double>(n + 10));
    // A weight may exceed its true value before it is rounded up by as much again: vectors of many entries, far away.
    const bool covered = most_moved < 2e-10 && n < 2000000;
    weighted_certain = covered ? certain : std::max(0.0, certain - 2.1 * most_moved);
}

PivotList::KernelBounds PivotList::kernel_bounds(std::size_t stop, double low, double high) const {
    if (stop + 1 == rest.size()) return {0, 0, 0, 0};
    const Rest& here = rest[stop];
    const bool exponential = kernel.type == KernelType::exponential;
    // Eq. (6), and its mirror image for a row beyond the whole list; eq. (7).
    const double near = std::max({0.0, here.nearest_low - high, low - here.farthest_high});
    const double far = here.farthest_high + high;
    const auto of = [&](double distance) {
        return std::exp(-kernel.gamma * (exponential ? distance : distance * distance));
    };
    // Eqs. (16), (17).
    return {of(far * further) * lower, of(near * nearer) * higher,
            exponential ? std::exp(-kernel.gamma * high * further) * lower : 0,
            exponential ? std::exp(kernel.gamma * high * further) * higher : 0};
}

PivotList::Left PivotList::left(std::size_t stop, std::size_t pair, const KernelBounds& kernels) const {
    const std::size_t cell = stop * pairs + pair;
    double high_positive = positive[cell] * kernels.largest, high_negative = negative[cell] * kernels.largest,
           low_positive = positive[cell] * kernels.smallest * certain,
           low_negative = negative[cell] * kernels.smallest * certain;
    if (kernel.type == KernelType::exponential) {
        const double wp = weighted_positive[cell], wn = weighted_negative[cell];
        high_positive = std::min(high_positive, wp * kernels.grow * higher);
        high_negative = std::min(high_negative, wn * kernels.grow * higher);
        low_positive = std::max(low_positive, wp * kernels.shrink * weighted_certain);
        low_negative = std::max(low_negative, wn * kernels.shrink * weighted_certain);
    }
    return {low_positive - high_negative, high_positive - low_negative, high_positive, high_negative};
}

}  // namespace fastsvm

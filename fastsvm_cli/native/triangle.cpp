#include "triangle.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "parallel.h"

namespace fastsvm {

namespace {
constexpr std::int64_t block_rows = 512;  // rows of one list pass over a strip together
constexpr double infinite = std::numeric_limits<double>::infinity();
}  // namespace

Triangle::Triangle(Machine machine, std::vector<std::int64_t> pivots)
    : machine_(std::move(machine)), pairs_(machine_.pairs()), pivots_(std::move(pivots)), heads_(machine_, *machine_.vectors, pivots_),
      rounding_(machine_, heads_.dense(), false) {
    for (std::int64_t c = 0; c < machine_.classes(); ++c) class_of_.insert(class_of_.end(), static_cast<std::size_t>(machine_.nr_sv[c]), static_cast<std::int32_t>(c));
    for (std::size_t i = 0; i < pivots_.size(); ++i) lists_.push_back(std::make_unique<List>());
}

void Triangle::lay_out(std::size_t which) const {
    List& list = *lists_[which];
    const Rows& sv = *machine_.vectors;
    const std::int64_t n = sv.rows, leading = sv.leading;
    // A sum of squared differences: wrong by (s + s + 3) u of itself, its root by half that.
    std::vector<double> distance(static_cast<std::size_t>(n));
    double slack = 0;
    const std::int64_t pivot = pivots_[which];
    for (std::int64_t i = 0; i < n; ++i) {
        distance[i] = std::sqrt(reference_squared_distance(sv, pivot, sv, i));
        slack = std::max(slack, static_cast<double>(sv.end(i) - sv.begin(i) + sv.end(pivot) - sv.begin(pivot) + 8) * unit);
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return distance[a] != distance[b] ? distance[a] < distance[b] : a < b; });

    list.strips = std::make_unique<Strips>(machine_, sv, order);
    const std::int64_t padded = list.strips->size(), strips = padded / strip;
    list.class_of.assign(static_cast<std::size_t>(padded), -1);
    list.coef.assign(static_cast<std::size_t>(padded * leading), 0.0);
    for (std::int64_t s = 0; s < n; ++s) {
        list.class_of[s] = class_of_[order[s]];
        std::copy_n(sv.labels.data() + order[s] * leading, leading, list.coef.data() + s * leading);
    }
    const bool exponential = machine_.kernel == KernelType::exponential;
    const std::size_t cells = static_cast<std::size_t>((strips + 1) * pairs_);
    list.rest.assign(static_cast<std::size_t>(strips + 1), Rest{0, 0, 0});
    list.positive.assign(cells, 0.0);
    list.negative.assign(cells, 0.0);
    if (exponential) {
        list.weighted_positive.assign(cells, 0.0);
        list.weighted_negative.assign(cells, 0.0);
    }
    const double up = 1 + unit * static_cast<double>(n + 4) * 1.01;  // a sum of n positive numbers, rounded up
    std::vector<double> positive(static_cast<std::size_t>(pairs_), 0.0), negative(positive), weighted_positive(positive), weighted_negative(positive);
    for (std::int64_t at = strips - 1; at >= 0; --at) {
        for (std::int64_t s = std::min(n, (at + 1) * strip) - 1; s >= at * strip; --s) {
            // Two roundings and exp's, and those of gamma times the distance, whose e^-t moves by t times as much: at most 0.37 of them.
            const double weight = exponential ? std::exp(-machine_.gamma * distance[order[s]]) * (1 + slack * (2 + machine_.gamma * distance[order[s]]) + 8 * unit) : 0;
            for_each_pair(machine_, list.class_of[s], [&](std::int64_t pair, std::int64_t column) {
                const double a = list.coef[s * leading + column];
                (a > 0 ? positive : negative)[pair] += std::fabs(a);
                if (exponential) (a > 0 ? weighted_positive : weighted_negative)[pair] += std::fabs(a) * weight;
            });
        }
        list.rest[at] = {distance[order[at * strip]] * (1 - slack), distance[order[at * strip]] * (1 + slack), distance[order[n - 1]] * (1 + slack)};
        for (std::int64_t p = 0; p < pairs_; ++p) {
            list.positive[at * pairs_ + p] = positive[p] * up;
            list.negative[at * pairs_ + p] = negative[p] * up;
            if (!exponential) continue;
            // Small products lose digits, or all of them, which eqs. (16) and (17) may blow up again.
            list.weighted_positive[at * pairs_ + p] = weighted_positive[p] * up + 1e-323 * (static_cast<double>(n + 4) + positive[p]);
            list.weighted_negative[at * pairs_ + p] = weighted_negative[p] * up + 1e-323 * (static_cast<double>(n + 4) + negative[p]);
        }
    }
}

// A row and its list.
struct Triangle::Visit {
    StripRow row;
    Rounding::Row rounding;
    std::size_t list = 0;
    double low = 0, high = 0;  // its distance from the pivot
};

// Adds a strip's terms to a row's sums: (pairs).
void Triangle::add(const List& list, std::int64_t at, const double* kernel_values, double* sum) const {
    const std::int64_t leading = machine_.vectors->leading;
    if (pairs_ == 1) {
        double* const only = sum;
        for (std::int64_t s = 0; s < strip; ++s) *only += list.coef[at * strip + s] * kernel_values[s];
        return;
    }
    for (std::int64_t s = 0; s < strip && list.class_of[at * strip + s] >= 0; ++s)
        for_each_pair(machine_, list.class_of[at * strip + s], [&](std::int64_t pair, std::int64_t column) {
            sum[pair] += list.coef[(at * strip + s) * leading + column] * kernel_values[s];
        });
}

// Value and radius of every pair after so many strips of the list.
void Triangle::bound(const List& list, std::int64_t done, const Visit& visit, const double* sum, double* value, double* radius) const {
    const Rest& rest = list.rest[done];
    const bool exponential = machine_.kernel == KernelType::exponential, over = done + 1 == static_cast<std::int64_t>(list.rest.size());
    const double gamma = machine_.gamma;
    // Eq. (6), and its mirror image for a row beyond the whole list; eq. (7).
    const double near = std::max({0.0, rest.nearest_low - visit.high, visit.low - rest.farthest_high});
    const double far = rest.farthest_high + visit.high;
    const auto kernel = [&](double distance) { return std::exp(-gamma * (exponential ? distance : distance * distance)); };
    // Distances are moved by more than their own rounding and that of the exponent, so that `up` and `down` are for exp and products alone.
    constexpr double up = 1 + 1e-13, down = 1 - 1e-13, further = 1 + 4 * unit, nearer = 1 - 4 * unit;
    const double largest = over ? 0 : kernel(near * nearer) * up, smallest = over ? 0 : kernel(far * further) * down;
    // Eqs. (16), (17): exp(-gamma |z - x|) is within exp(-+gamma |z - pivot|) exp(-gamma |x - pivot|).
    const double shrink = exponential && !over ? std::exp(-gamma * visit.high * further) * down : 0, grow = exponential && !over ? std::exp(gamma * visit.high * further) * up : 0;
    // The sums of what is left are rounded up, by less than 1e-9 of themselves.
    constexpr double certain = 1 - 1e-9;
    for (std::int64_t p = 0; p < pairs_; ++p) {
        const double positive = list.positive[done * pairs_ + p], negative = list.negative[done * pairs_ + p];
        double high_positive = positive * largest, high_negative = negative * largest, low_positive = positive * smallest * certain, low_negative = negative * smallest * certain;
        if (exponential && !over) {
            const double wp = list.weighted_positive[done * pairs_ + p], wn = list.weighted_negative[done * pairs_ + p];
            high_positive = std::min(high_positive, wp * grow * up);
            high_negative = std::min(high_negative, wn * grow * up);
            low_positive = std::max(low_positive, wp * shrink * certain);
            low_negative = std::max(low_negative, wn * shrink * certain);
        }
        const double low = low_positive - high_negative, high = high_positive - low_negative;
        value[p] = sum[p] + (low + high) / 2 - machine_.rho[p];
        const double half = std::max(0.0, high - low) / 2;
        radius[p] = half + 4 * unit * (std::fabs(sum[p]) + high_positive + high_negative) + rounding_.radius(p, visit.rounding, value[p]);
        if (!(radius[p] < infinite)) value[p] = 0, radius[p] = infinite;
    }
}

std::vector<std::int64_t> Triangle::decision_values(const Rows& rows, const Task& task, double tolerance, Decisions& out) const {
    out.resize(rows.rows);
    std::vector<char> open(static_cast<std::size_t>(rows.rows), 0);
    std::atomic<std::int64_t> evaluations{0};
    const std::int64_t lists = static_cast<std::int64_t>(pivots_.size()), padded_lists = heads_.size();
    const std::int64_t n = machine_.total_sv();
    parallel_for(rows.rows, block_rows, [&](std::int64_t first, std::int64_t last) {
        Settled settled(task, tolerance);
        std::vector<Visit> visits(block_rows);
        std::vector<double> distances(static_cast<std::size_t>(std::max<std::int64_t>(padded_lists, strip))), scratch, sums(static_cast<std::size_t>(block_rows * pairs_)), list_scratch;
        std::vector<double> radius(static_cast<std::size_t>(pairs_));
        std::vector<std::int64_t> by_list, active;
        std::int64_t done = 0;
        for (; first < last; first += block_rows) {
            const std::int64_t count = std::min(last, first + block_rows) - first;
            by_list.resize(static_cast<std::size_t>(count));
            std::iota(by_list.begin(), by_list.end(), 0);
            for (std::int64_t r = 0; r < count; ++r) {
                Visit& visit = visits[r];
                heads_.take(rows, first + r, visit.row);
                visit.rounding = rounding_.row(rows, first + r, false);
                if (lists) {
                    heads_.squared_distances(visit.row, 0, padded_lists, distances.data(), scratch);
                    visit.list = static_cast<std::size_t>(std::min_element(distances.begin(), distances.begin() + lists) - distances.begin());
                    const double error = rounding_.squared_distance_error(rows, first + r), squared = distances[visit.list];
                    visit.low = std::sqrt(std::max(0.0, squared - error)) * (1 - 4 * unit);
                    visit.high = std::sqrt(squared + error) * (1 + 4 * unit);
                }
                double* const value = out.value.data() + (first + r) * pairs_;
                for (std::int64_t p = 0; p < pairs_; ++p) value[p] = -machine_.rho[p];
                if (out.with_radius) std::fill_n(out.radius.data() + (first + r) * pairs_, pairs_, infinite);
            }
            std::fill(sums.begin(), sums.end(), 0.0);
            std::sort(by_list.begin(), by_list.end(), [&](std::int64_t a, std::int64_t b) { return visits[a].list != visits[b].list ? visits[a].list < visits[b].list : a < b; });
            done += lists * count;
            for (auto begin = by_list.begin(); begin != by_list.end();) {
                const std::size_t which = visits[*begin].list;
                const auto end = std::find_if(begin, by_list.end(), [&](std::int64_t r) { return visits[r].list != which; });
                active.assign(begin, end);
                begin = end;
                if (lists) std::call_once(lists_[which]->once, [&] { lay_out(which); });
                const std::int64_t strips = lists ? lists_[which]->strips->size() / strip : 0;
                if (!strips) {
                    for (std::int64_t r : active) open[first + r] = 1;
                    continue;
                }
                const List& list = *lists_[which];
                // All features have a column in every list, so that what heads_ took of a row serves here too.
                // Bounds of many pairs cost more than a strip's kernel values: they are not asked for at every one.
                const std::int64_t stride = std::min<std::int64_t>(8, 1 + pairs_ / 8);
                for (std::int64_t at = 0; at <= strips && !active.empty(); ++at) {
                    const bool ask = at % stride == 0 || at == strips;
                    std::size_t kept = 0;
                    for (std::int64_t r : active) {
                        const Visit& visit = visits[r];
                        double* const sum = sums.data() + r * pairs_;
                        if (at > 0) {
                            list.strips->kernel_values(visit.row, (at - 1) * strip, at * strip, distances.data(), list_scratch);
                            add(list, at - 1, distances.data(), sum);
                            done += std::min(n, at * strip) - (at - 1) * strip;
                        }
                        if (!ask) {
                            active[kept++] = r;
                            continue;
                        }
                        double* const value = out.value.data() + (first + r) * pairs_;
                        double* const row_radius = out.with_radius ? out.radius.data() + (first + r) * pairs_ : radius.data();
                        bound(list, at, visit, sum, value, row_radius);
                        if (!settled(value, row_radius)) active[kept++] = r;
                    }
                    active.resize(kept);
                }
                for (std::int64_t r : active) open[first + r] = 1;
            }
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

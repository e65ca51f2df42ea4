#include "models/triangle.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "engine/header.h"
#include "exact/reference/rounding.h"
#include "models/ordered.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

// Margins for exp and a few products. Distances get more than their own rounding and the exponent's (B20).
constexpr double higher = 1 + 1e-13, lower = 1 - 1e-13, further = 1 + 4 * unit, nearer = 1 - 4 * unit;

constexpr std::int64_t triangle_rows = 512;  // rows sorted by list at a time

// Stops in a list of n vectors. Few rows decide before half of it; a check costs a row a few kernel values, plus one
// per few pairs.
std::vector<std::int64_t> stops_of(std::int64_t n, std::int64_t pairs) {
    const std::int64_t apart = n < 256 && pairs == 1 ? panel / 2 : panel * std::min<std::int64_t>(8, 1 + pairs / 8);
    std::vector<std::int64_t> out{0};
    while (out.back() < n) out.push_back(std::min(n, out.back() + apart));
    return out;
}

// Rows that fit the first-level cache, in whole panels.
std::int64_t triangle_panel_rows(std::int64_t features) {
    return std::clamp<std::int64_t>(4096 / std::max<std::int64_t>(features, 1) / panel, 1, 8) * panel;
}

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

Triangle::Triangle(SvmModel model, std::vector<std::int64_t> pivots)
    : model_(std::move(model)),
      pairs_(model_.pairs()),
      pivots_(std::move(pivots)),
      is_pivot_(static_cast<std::size_t>(model_.total_sv()), 0),
      panels_(model_.kernel, *model_.vectors, {}),
      rounding_(model_, panels_.dense(), false) {
    for (std::int64_t c = 0; c < model_.classes(); ++c)
        class_of_.insert(class_of_.end(), static_cast<std::size_t>(model_.nr_sv[c]), static_cast<std::int32_t>(c));
    for (std::int64_t pivot : pivots_) {
        if (pivot < 0 || pivot >= model_.total_sv()) throw std::out_of_range("pivot out of range");
        new_pivot_.push_back(!is_pivot_[pivot]);
        is_pivot_[pivot] = 1;
    }
    for (std::size_t i = 0; i < pivots_.size(); ++i) lists_.push_back(std::make_unique<Lazy>());
    const Rows& sv = *model_.vectors;
    stops_ = stops_of(sv.rows - std::count(is_pivot_.begin(), is_pivot_.end(), 1), pairs_);
    vectors_.resize(static_cast<std::size_t>(sv.rows));
    for (std::int64_t i = 0; i < sv.rows; ++i) panels_.take(sv, i, vectors_[i]);
    if (!panels_.dense() || !RowsInPanels::by_column(4, 4 * sv.indices.size(), sv.rows * panels_.features())) return;
    columns_.resize(static_cast<std::size_t>(sv.rows * panels_.features()));
    for (std::int64_t i = 0; i < sv.rows; ++i) spread(panels_.known(), sv, i, columns_.data() + i * panels_.features());
}

const PivotList& Triangle::list(std::size_t which) const {
    Lazy& lazy = *lists_[which];
    std::call_once(lazy.once, [&] {
        std::vector<std::int64_t> members;
        for (std::int64_t i = 0; i < model_.total_sv(); ++i)
            if (!is_pivot_[i]) members.push_back(i);
        lazy.list.emplace(model_, pivots_[which], std::move(members), class_of_, stops_);
    });
    return *lazy.list;
}

void Triangle::vectors_at(const std::int64_t* which, int count, RowsInPanels::Vectors& out) const {
    out.count = 0;
    for (int v = 0; v < count; ++v)
        out.add(&vectors_[which[v]], columns_.empty() ? nullptr : columns_.data() + which[v] * panels_.features());
}

struct Triangle::Visit {
    std::size_t list = 0;
    double low = 0, high = 0;  // of its distance from the pivot
    Rounding::Row rounding;
};

struct Triangle::RowGroup : RowSlots {
    RowGroup(const Panels& panels, std::int64_t pairs)
        : RowSlots(panels, pairs, triangle_panel_rows(panels.features())),
          kernel_values(static_cast<std::size_t>(slots * 4)),
          low(static_cast<std::size_t>(slots)),
          high(low),
          grow(low),
          near(low),
          far(low),
          count(low),
          visits(static_cast<std::size_t>(slots)) {}
    Aligned<double> kernel_values;  // (panels, 4, panel)
    // (slots): bounds of the distance from the pivot, and e^(gamma high) for the exponential kernel.
    Aligned<double> low, high, grow;
    // (slots): squared distances; in look_at, bounds of kernel values left, and numbers of decided pairs.
    Aligned<double> near, far, count;
    std::vector<const Visit*> visits;  // (slots)
    RowsInPanels::Vectors vectors;

    std::int64_t filled() const { return whole(rows.size(), lanes); }
    void remove(std::int64_t slot) {
        const std::int64_t last = RowSlots::remove(slot);
        visits[slot] = visits[last];
        low[slot] = low[last];
        high[slot] = high[last];
        grow[slot] = grow[last];
    }
};

struct Triangle::Block {
    Block(const Panels& panels, std::int64_t pairs)
        : group(panels, pairs), visits(triangle_rows), sums(static_cast<std::size_t>(triangle_rows * pairs)) {}
    RowGroup group;
    std::vector<Visit> visits;
    std::vector<double> sums;  // (triangle_rows, pairs)
    std::vector<std::int64_t> by_list;
};

Triangle::~Triangle() = default;

// Adds a support vector's terms to n rows from slot `at` on.
void Triangle::add(std::int64_t vector, const double* kernel_values, std::int64_t at, std::int64_t n,
                   RowGroup& group) const {
    const Rows& sv = *model_.vectors;
    for_each_pair(model_, class_of_[vector], [&](std::int64_t pair, std::int64_t column) {
        loops().add_scaled(n, sv.leading[vector * sv.leading_count + column], kernel_values,
                           group.sums.data() + pair * group.slots + at);
    });
}

// Sets visits and sums, (rows, pairs), for at most `slots` rows.
void Triangle::meet_pivots(const Rows& rows, std::int64_t first, std::int64_t stop, Visit* visits, double* sums,
                           RowGroup& group) const {
    group.rows.clear(rows);
    for (std::int64_t r = first; r < stop; ++r) {
        group.rows.add(r);
        visits[r - first].list = 0;  // also if no distance is a number
    }
    const std::int64_t size = stop - first, n = group.filled();
    std::fill(group.sums.begin(), group.sums.end(), 0.0);
    std::fill_n(group.near.begin(), n, infinite);
    for (std::size_t j = 0; j < pivots_.size();) {
        const int now = RowsInPanels::together(static_cast<std::int64_t>(pivots_.size() - j));
        vectors_at(pivots_.data() + j, now, group.vectors);
        group.rows.squared_distances(group.vectors, group.kernel_values.data(), 4 * panel);
        for (int v = 0; v < now; ++v, ++j)
            for (std::int64_t at = 0; at < size; at += panel) {
                const std::int64_t here = std::min<std::int64_t>(panel, n - at);
                double* const values = group.kernel_values.data() + at * 4 + v * panel;
                for (std::int64_t s = at; s < std::min(size, at + panel); ++s)
                    if (values[s - at] < group.near[s]) group.near[s] = values[s - at], visits[s].list = j;
                if (!new_pivot_[j]) continue;
                kernel_from_squared_distances(model_.kernel, here, values);
                add(pivots_[j], values, at, here, group);
            }
    }
    for (std::int64_t s = 0; s < size; ++s) {
        const double error = rounding_.squared_distance_error(rows, first + s), squared = group.near[s];
        visits[s].low = std::sqrt(std::max(0.0, squared - error)) * (1 - 4 * unit);
        visits[s].high = std::sqrt(squared + error) * (1 + 4 * unit);
        visits[s].rounding = rounding_.row(rows, first + s, false);
        group.gather(s, sums + s * pairs_);
    }
}

// Computes values and radii at a stop of the list.
void Triangle::bound(const PivotList& list, std::size_t stop, const Visit& visit, const double* sum, double* value,
                     double* radius) const {
    const PivotList::KernelBounds kernels = list.kernel_bounds(stop, visit.low, visit.high);
    for (std::int64_t p = 0; p < pairs_; ++p) {
        const PivotList::Left left = list.left(stop, static_cast<std::size_t>(p), kernels);
        value[p] = sum[p] + (left.low + left.high) / 2 - model_.rho[p];
        const double half = std::max(0.0, left.high - left.low) / 2;
        radius[p] = half + 4 * unit * (std::fabs(sum[p]) + left.positive + left.negative) +
                    rounding_.radius(p, visit.rounding, value[p]);
        if (!(radius[p] < infinite)) value[p] = 0, radius[p] = infinite;
    }
}

// Sets group.looked to the slots whose interval, without `bound`'s rounding, may decide the answer.
void Triangle::look_at(const PivotList& list, std::size_t stop, const DecisionTest& decided, RowGroup& group) const {
    const PivotList::Rest& rest = list.rest[stop];
    const bool exponential = model_.kernel.type == KernelType::exponential;
    const std::int64_t n = group.filled();
    double* const largest = group.near.data();
    double* const smallest = group.far.data();
    double* const count = group.count.data();
    loops().row_distances(n, rest.nearest_low, rest.farthest_high, !exponential, group.low.data(), group.high.data(),
                          largest, smallest);
    loops().exp_of_norms(n, model_.kernel.gamma, largest);
    loops().exp_of_norms(n, model_.kernel.gamma, smallest);
    std::fill_n(count, n, 0.0);
    for (std::int64_t p = 0; p < pairs_; ++p) {
        const std::size_t cell = stop * static_cast<std::size_t>(pairs_) + static_cast<std::size_t>(p);
        const double positive = list.positive[cell], negative = list.negative[cell];
        const double* const sums = group.sums.data() + p * group.slots;
        if (!exponential && !decided.regression()) {
            loops().count_decided(n, model_.rho[p], positive, negative, largest, smallest, sums, count);
            continue;
        }
        for (std::int64_t s = 0; s < n; ++s) {
            double most_positive = positive * largest[s], most_negative = negative * largest[s],
                   least_positive = positive * smallest[s], least_negative = negative * smallest[s];
            if (exponential) {
                const double wp = list.weighted_positive[cell], wn = list.weighted_negative[cell], grow = group.grow[s],
                             shrink = 1 / grow;
                most_positive = std::min(most_positive, wp * grow);
                most_negative = std::min(most_negative, wn * grow);
                least_positive = std::max(least_positive, wp * shrink);
                least_negative = std::max(least_negative, wn * shrink);
            }
            const double low = least_positive - most_negative, high = most_positive - least_negative,
                         value = sums[s] - model_.rho[p];
            count[s] +=
                decided.regression() ? (high - low) / 2 <= decided.tolerance() : value + low > 0 || value + high <= 0;
        }
    }
    group.looked.clear();
    for (std::int64_t s = 0; s < group.rows.size(); ++s)
        if (count[s] >= static_cast<double>(decided.least_certain())) group.looked.push_back(s);
}

// Evaluates the rows first + r, for members r of one list (at most one per slot), until decided or at the list's end.
void Triangle::follow(const Rows& rows, std::int64_t first, const PivotList& list, const std::int64_t* members,
                      std::int64_t size, const Visit* visits, const double* sums, DecisionTest& decided, Decisions& out,
                      std::vector<char>& open, RowGroup& group) const {
    group.rows.clear(rows);
    for (std::int64_t s = 0; s < size; ++s) {
        const std::int64_t r = members[s];
        group.rows.add(first + r);
        group.visits[s] = visits + r;
        group.low[s] = visits[r].low;
        group.high[s] = visits[r].high;
        if (model_.kernel.type == KernelType::exponential)
            group.grow[s] = std::exp(model_.kernel.gamma * visits[r].high);
        for (std::int64_t p = 0; p < pairs_; ++p) group.sums[p * group.slots + s] = sums[r * pairs_ + p];
    }
    for (std::size_t stop = 0; stop < stops_.size() && group.rows.size(); ++stop) {
        for (std::int64_t s = stop ? stops_[stop - 1] : 0; s < stops_[stop];) {
            const int now = RowsInPanels::together(stops_[stop] - s);
            vectors_at(list.order.data() + s, now, group.vectors);
            group.rows.kernel_values(group.vectors, group.kernel_values.data(), 4 * panel);
            for (std::int64_t at = 0, n = group.filled(); at < n; at += panel)
                for (int v = 0; v < now; ++v)
                    add(list.order[s + v], group.kernel_values.data() + at * 4 + v * panel, at,
                        std::min<std::int64_t>(panel, n - at), group);
            s += now;
        }
        const bool over = stop + 1 == stops_.size();
        if (over)
            group.look_at_all();
        else
            look_at(list, stop, decided, group);
        // Last slot first: the last row moves into a removed one's slot.
        for (auto slot = group.looked.rbegin(); slot != group.looked.rend(); ++slot) {
            const std::int64_t r = group.rows.row(*slot);
            group.gather(*slot, group.sum.data());
            double* const value = out.value.data() + r * pairs_;
            double* const radius = out.with_radius ? out.radius.data() + r * pairs_ : group.radius.data();
            bound(list, stop, *group.visits[*slot], group.sum.data(), value, radius);
            const bool done = decided(value, radius);
            if (!done && !over) continue;
            out.evaluations[r] += stops_[stop];
            if (!done)
                open[r] = 1;
            else
                group.remove(*slot);
        }
    }
}

std::vector<std::int64_t> Triangle::decision_values(const Rows& rows, const Task& task, double tolerance, std::int64_t,
                                                    Decisions& out) const {
    out.resize(rows.rows);
    const auto flags = task.flags.lease();
    std::vector<char>& open = *flags;
    open.assign(static_cast<std::size_t>(rows.rows), 0);
    const std::int64_t lists = static_cast<std::int64_t>(pivots_.size());
    parallel_for(rows.rows, triangle_rows, [&](std::int64_t first, std::int64_t last) {
        const auto task_scratch = task.task_scratch();
        DecisionTest& decided = task_scratch->decided;
        decided.within(tolerance);
        const auto block = blocks_.lease([this] { return std::make_unique<Block>(panels_, pairs_); });
        auto& [group, visits, sums, by_list] = *block;
        for (; first < last; first += triangle_rows) {
            const std::int64_t count = std::min(last, first + triangle_rows) - first;
            begin_rows(model_.rho, first, first + count, out);
            std::fill_n(out.evaluations.begin() + first, count, lists);
            std::fill_n(open.begin() + first, count, lists == 0);
            if (!lists) continue;
            for (std::int64_t r = 0; r < count; r += group.slots)
                meet_pivots(rows, first + r, first + std::min(count, r + group.slots), visits.data() + r,
                            sums.data() + r * pairs_, group);
            by_list.resize(static_cast<std::size_t>(count));
            std::iota(by_list.begin(), by_list.end(), 0);
            std::sort(by_list.begin(), by_list.end(), [&visits = visits](std::int64_t a, std::int64_t b) {
                return visits[a].list != visits[b].list ? visits[a].list < visits[b].list : a < b;
            });
            for (std::int64_t begin = 0, end = 0; begin < count; begin = end) {
                const std::size_t which = visits[by_list[begin]].list;
                while (end < count && visits[by_list[end]].list == which) ++end;
                const PivotList& taken = list(which);
                for (std::int64_t r = begin; r < end; r += group.slots)
                    follow(rows, first, taken, by_list.data() + r, std::min(end - r, group.slots), visits.data(),
                           sums.data(), decided, out, open, group);
            }
        }
    });
    return flagged_rows(open);
}

std::string why_no_triangle(const Kernel& kernel) {
    if (kernel.type == KernelType::precomputed) return without_vectors;
    if (kernel.of_distances() && kernel.gamma >= 0) return "";
    return "a " + name_of(kernel) + " kernel" + (kernel.gamma < 0 ? " with negative gamma" : "") +
           " found, expected one that falls with the distance, rbf or exponential: the triangle inequality says nothing"
           " of others";
}

void TriangleFile::keys(Archive& archive) {
    OrderedFile::keys(archive);
    archive.size("nr_lists", pivots.size());
}

void TriangleFile::body(Archive& archive) {
    OrderedFile::body(archive);
    if (const std::string why = why_no_triangle(exact->kernel); !why.empty()) throw ModelError(why);
    archive.record("pivots");
    archive.whole_numbers(pivots, archive.count("nr_lists"), header.total_sv);
    archive.end();
}

std::string TriangleFile::ordered_by() const {
    return std::to_string(pivots.size()) + (pivots.size() == 1 ? " list" : " lists") + " by distance";
}

std::shared_ptr<Model> TriangleFile::make_model() const {
    const auto sums = exact->exact_model();
    return std::make_shared<OrderedModel>(sums, std::make_shared<const Triangle>(sums->svm_model(), pivots));
}

}  // namespace fastsvm

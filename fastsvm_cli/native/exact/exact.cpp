#include "exact/exact.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t block_rows = 64;

// Support vectors of a model that meet as many others at a time; whole strips.
constexpr std::int64_t own_block = 512;

// Numbers of a kind that a thread may hold for the rows it is at, unless one row has more: 4 MB, and where threads are
// many, 25 MB for all of them together.
std::int64_t numbers_per_thread() { return std::clamp<std::int64_t>((3 << 20) / get_threads(), 1, 1 << 19); }

// Rows done together: as many as `block_rows`, fewer where each thread would not get that many.
std::int64_t rows_per_block(std::int64_t rows) {
    return std::clamp<std::int64_t>((rows + get_threads() - 1) / get_threads(), 1, block_rows);
}

// Folded, a linear model has a number for every feature and pair: at most so many, unless the model itself has more.
constexpr double folded_max = 4e6;

// Of labels: uneven shares balance.
constexpr std::int64_t shares_per_thread = 4;
}  // namespace

// What the evaluation in double precision needs.
struct Exact::Layout {
    std::vector<double> coef;      // (nr_class - 1, padded), 0 in the padding
    std::optional<Strips> strips;  // or
    std::optional<ColumnLists> lists;
};

Exact::~Exact() = default;

Exact::Exact(SvmModel model) : model_(std::move(model)), features_(used_indices(*model_.vectors)) {
    const double entries = static_cast<double>(model_.vectors->indices.size());
    if (model_.kernel.type == KernelType::linear &&
        static_cast<double>(model_.pairs()) * static_cast<double>(features_.size()) <=
            std::max(4 * entries, folded_max))
        fold_linear();
    else if (model_.kernel.type != KernelType::precomputed)
        place_vectors();
    rounding_.emplace(model_, in_strips_ && dense(*model_.vectors, features_.size()), linear_);
}

void Exact::fold_linear() {
    linear_ = true;
    const Rows& sv = *model_.vectors;
    const std::int64_t pairs = model_.pairs();
    weights_.assign(static_cast<std::size_t>(features_.size() * pairs), 0.0);
    std::int64_t i = 0;
    for (std::int64_t c = 0; c < model_.classes(); ++c)
        for (std::int64_t k = 0; k < model_.nr_sv[c]; ++k, ++i)
            for (std::int64_t e = sv.begin(i); e < sv.end(i); ++e) {
                double* const w = weights_.data() + features_.column(sv.indices[e]) * pairs;
                for_each_pair(model_, c, [&](std::int64_t pair, std::int64_t column) {
                    w[pair] += sv.leading[i * sv.leading_count + column] * sv.values[e];
                });
            }
}

void Exact::place_vectors() {
    const Rows& sv = *model_.vectors;
    const auto whole_strips = [](std::int64_t n) { return (n + strip - 1) / strip * strip; };
    for (std::int64_t n : model_.nr_sv) padded_ += whole_strips(n);
    const bool gaps =
        model_.classes() <= 2 || 2 * padded_ <= 3 * sv.rows;  // classes of a few vectors each would be mostly padding
    class_start_.push_back(0);
    for (std::int64_t n : model_.nr_sv) class_start_.push_back(class_start_.back() + (gaps ? whole_strips(n) : n));
    padded_ = whole_strips(class_start_.back());
    order_.assign(static_cast<std::size_t>(padded_), -1);
    std::int64_t i = 0;
    for (std::size_t c = 0; c < model_.nr_sv.size(); ++c)
        for (std::int64_t k = 0; k < model_.nr_sv[c]; ++k) order_[class_start_[c] + k] = i++;
    in_strips_ = dense(sv, features_.size()) || model_.kernel.by_differences() || model_.kernel.normalized();
}

const Exact::Layout& Exact::layout() const {
    std::call_once(laid_out_, [this] {
        const Rows& sv = *model_.vectors;
        auto made = std::make_unique<Layout>();
        made->coef.assign(static_cast<std::size_t>(padded_ * sv.leading_count), 0.0);
        for (std::int64_t s = 0; s < padded_; ++s)
            for (int j = 0; order_[s] >= 0 && j < sv.leading_count; ++j)
                made->coef[j * padded_ + s] = sv.leading[order_[s] * sv.leading_count + j];
        if (in_strips_)
            made->strips.emplace(model_.kernel, sv, order_);
        else
            made->lists.emplace(model_.kernel, sv, features_, order_);
        layout_ = std::move(made);
    });
    return *layout_;
}

const Ladder& Exact::ladder() const {
    std::call_once(climbed_, [this] { ladder_ = std::make_unique<Ladder>(model_, *rounding_, features_, in_strips_); });
    return *ladder_;
}

// Adds the terms of the padded support vectors [from, to) to a row's values.
void Exact::accumulate(std::int64_t from, std::int64_t to, const double* kernel_values, double* value) const {
    const Loops& k = loops();
    const double* const coef = layout().coef.data();
    to = std::min(to, class_start_.back());
    std::int64_t c = std::upper_bound(class_start_.begin(), class_start_.end(), from) - class_start_.begin() - 1;
    for (; from < to; ++c) {
        const std::int64_t stop = std::min(to, class_start_[c + 1]);
        if (stop > from)
            for_each_pair(model_, c, [&](std::int64_t pair, std::int64_t column) {
                value[pair] += k.dot(stop - from, coef + column * padded_ + from, kernel_values);
            });
        kernel_values += stop - from;
        from = stop;
    }
}

struct Exact::Block {
    std::vector<Columns> columns;
    StripRows rows;
    std::vector<double> kernel_values, scratch, value, own, sums;
    std::vector<std::int64_t> open;      // rows that the next rung decides
    std::vector<std::int64_t> open_now;  // those of this rung
    const std::int64_t* numbers(std::int64_t first, std::int64_t last) {
        open_now.resize(static_cast<std::size_t>(last - first));
        std::iota(open_now.begin(), open_now.end(), first);
        return open_now.data();
    }
};

void Exact::take_rows(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const {
    if (in_strips_) return layout().strips->take(rows, which, n, block.rows);
    if (static_cast<std::int64_t>(block.columns.size()) < n) block.columns.resize(static_cast<std::size_t>(n));
    for (std::int64_t r = 0; r < n; ++r) {
        const std::int64_t begin = rows.begin(which[r]);
        block.columns[r].take(features_, rows.indices.data() + begin, rows.values.data() + begin,
                              rows.end(which[r]) - begin);
    }
}

void Exact::evaluate(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block, double* value) const {
    const std::int64_t pairs = model_.pairs();
    std::fill_n(value, n * pairs, 0.0);
    take_rows(rows, which, n, block);
    if (in_strips_) {
        const Strips& strips = *layout().strips;
        const std::int64_t tile = vectors_per_tile(features_.size());
        block.kernel_values.resize(static_cast<std::size_t>(n * tile));
        for (std::int64_t from = 0; from < padded_; from += tile) {
            const std::int64_t to = std::min(padded_, from + tile);
            strips.panel_kernel_values(block.rows, from, to, block.kernel_values.data(), tile);
            for (std::int64_t r : block.rows.in_panels)
                accumulate(from, to, block.kernel_values.data() + r * tile, value + r * pairs);
            for (std::int64_t r : block.rows.by_entry) {
                strips.kernel_values(block.rows.rows[r], from, to, block.kernel_values.data(), block.scratch);
                accumulate(from, to, block.kernel_values.data(), value + r * pairs);
            }
        }
        return;
    }
    if (linear_) {
        for (std::int64_t r = 0; r < n; ++r)
            for (std::int64_t e = 0; e < block.columns[r].count(); ++e)
                loops().add_scaled(pairs, block.columns[r].value[e],
                                   weights_.data() + block.columns[r].column[e] * pairs, value + r * pairs);
        return;
    }
    block.kernel_values.resize(static_cast<std::size_t>(padded_));
    for (std::int64_t r = 0; r < n; ++r) {
        layout().lists->kernel_values(block.columns[r], rows.squared_norms[which[r]], block.kernel_values.data());
        accumulate(0, padded_, block.kernel_values.data(), value + r * pairs);
    }
}

// A guess at the winner: the class of the nearest vector; where that cannot be told, the one with the largest sum of
// kernel values.
int Exact::likely_class(const double* kernel_values) const {
    int best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < model_.nr_sv.size(); ++c) {
        double sum = 0;
        for (std::int64_t s = class_start_[c]; s < class_start_[c] + model_.nr_sv[c]; ++s)
            sum = model_.kernel.of_distances() ? std::max(sum, kernel_values[s]) : sum + kernel_values[s];
        if (sum > most) {
            most = sum;
            best = static_cast<int>(c);
        }
    }
    return best;
}

// The sums of all pairs that class c is in, over their support vectors: (classes), that of c itself meaningless. own:
// scratch.
void Exact::sums_of_class(std::int64_t c, const double* kernel_values, std::vector<double>& own, double* sums) const {
    constexpr std::int64_t few = 16;  // below, a call for every run of vectors costs more than it does
    const Loops& k = loops();
    const double* const all = layout().coef.data();
    const std::int64_t classes = model_.classes(), n = model_.nr_sv[c];
    const double* const mine = kernel_values + class_start_[c];
    own.assign(static_cast<std::size_t>(classes - 1),
               0.0);  // what c's own vectors give, by column of their coefficients
    if (n < few) {
        const std::int64_t first = std::accumulate(model_.nr_sv.begin(), model_.nr_sv.begin() + c, std::int64_t{0});
        for (std::int64_t s = 0; s < n; ++s)
            k.add_scaled(classes - 1, mine[s], model_.vectors->leading.data() + (first + s) * (classes - 1),
                         own.data());
    } else {
        for (std::int64_t column = 0; column < classes - 1; ++column)
            own[column] = k.dot(n, all + column * padded_ + class_start_[c], mine);
    }
    for (std::int64_t other = 0; other < classes; ++other) {
        if (other == c) continue;
        const double* const coef = all + (other < c ? c - 1 : c) * padded_ + class_start_[other];
        const double* const theirs = kernel_values + class_start_[other];
        const std::int64_t count = model_.nr_sv[other];
        double sum = 0;
        if (count < few)
            for (std::int64_t s = 0; s < count; ++s) sum += coef[s] * theirs[s];
        else
            sum = k.dot(count, coef, theirs);
        sums[other] = own[other < c ? other : other - 1] + sum;
    }
}

// The winners of a few rows, of more than two classes, in double precision; rows that stay open go to block.open.
void Exact::elect(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block,
                  std::int32_t* winner) const {
    const std::int64_t pairs = model_.pairs();
    const int classes = static_cast<int>(model_.classes());
    Votes votes(classes);
    block.sums.resize(static_cast<std::size_t>(classes));
    take_rows(rows, which, n, block);
    block.kernel_values.resize(static_cast<std::size_t>(in_strips_ ? n * padded_ : linear_ ? pairs : padded_));
    if (in_strips_) {
        const std::int64_t tile = vectors_per_tile(features_.size());
        for (std::int64_t from = 0; from < padded_; from += tile) {
            const std::int64_t to = std::min(padded_, from + tile);
            double* const values = block.kernel_values.data() + from;
            layout().strips->panel_kernel_values(block.rows, from, to, values, padded_);
            for (std::int64_t r : block.rows.by_entry)
                layout().strips->kernel_values(block.rows.rows[r], from, to, values + r * padded_, block.scratch);
        }
    }
    for (std::int64_t r = 0; r < n; ++r) {
        const Rounding::Row rounding = rounding_->row(rows, which[r], false);
        if (!(rounding.kernel() < std::numeric_limits<double>::infinity())) {
            block.open.push_back(which[r]);
            continue;
        }
        double* const values = block.kernel_values.data() + (in_strips_ ? r * padded_ : 0);
        if (linear_) {  // the sums themselves
            std::fill_n(values, pairs, 0.0);
            for (std::int64_t e = 0; e < block.columns[r].count(); ++e)
                loops().add_scaled(pairs, block.columns[r].value[e],
                                   weights_.data() + block.columns[r].column[e] * pairs, values);
        } else if (!in_strips_) {
            layout().lists->kernel_values(block.columns[r], rows.squared_norms[which[r]], values);
        }
        const int found = votes.winner(linear_ ? 0 : likely_class(values), [&](int c, int* won) {
            if (!linear_) sums_of_class(c, values, block.own, block.sums.data());
            for (int other = 0; other < classes; ++other) {
                if (other == c) continue;
                const std::int64_t pair = model_.pair_of(std::min(c, other), std::max(c, other));
                const double value = (linear_ ? values[pair] : block.sums[other]) - model_.rho[pair];
                // Few values are as small as the radius of any pair, so that one number serves nearly all. False
                // for NaN too.
                const bool known = std::fabs(value) > rounding_->radius_of_any(rounding, value) ||
                                   std::fabs(value) > rounding_->radius(pair, rounding, value);
                won[other] = !known ? 0 : (value > 0) == (c < other) ? 1 : -1;
            }
        });
        if (found < 0)
            block.open.push_back(which[r]);
        else
            winner[which[r]] = found;
    }
}

// Likewise with one pair.
void Exact::decide(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block,
                   std::int32_t* winner) const {
    block.value.resize(static_cast<std::size_t>(n));
    evaluate(rows, which, n, block, block.value.data());
    for (std::int64_t r = 0; r < n; ++r) {
        const Rounding::Row rounding = rounding_->row(rows, which[r], false);
        const double value = block.value[r] - model_.rho[0];
        const bool known = rounding.kernel() < std::numeric_limits<double>::infinity();
        if (known && std::fabs(value) > rounding_->radius(0, rounding, value))  // false for NaN too
            winner[which[r]] = value > 0 ? 0 : 1;
        else
            block.open.push_back(which[r]);
    }
}

// The winners of the block's open rows, from svm-predict's own values.
void Exact::label_by_reference(const Rows& rows, Block& block, std::int32_t* winner) const {
    const std::int64_t pairs = model_.pairs();
    const int classes = static_cast<int>(model_.classes());
    Votes votes(classes);
    // As many rows at a time as the reference sum does side by side; one where the values of more would be too many.
    const std::int64_t fit = numbers_per_thread() / std::max<std::int64_t>(pairs, 1);
    const std::int64_t most = fit >= wide_group ? wide_group : fit >= narrow_group ? narrow_group : 1;
    for (std::size_t at = 0; at < block.open.size();) {
        const std::int64_t count = std::min(static_cast<std::int64_t>(block.open.size() - at), most);
        block.value.resize(static_cast<std::size_t>(count * pairs));
        reference_sums(model_, rows, block.open.data() + at, count, block.value.data());
        for (std::int64_t r = 0; r < count; ++r, ++at) {
            const double* const value = block.value.data() + r * pairs;
            winner[block.open[at]] = pairs == 1 ? (value[0] > 0 ? 0 : 1) : votes.winner(0, [&](int c, int* won) {
                for (int other = 0; other < classes; ++other)
                    if (other != c)
                        won[other] =
                            (value[model_.pair_of(std::min(c, other), std::max(c, other))] > 0) == (c < other) ? 1 : -1;
            });
        }
    }
}

// The labels of rows first, ..., last - 1: up the ladder.
void Exact::label(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, Decisions& out,
                  RungRows& settled) const {
    std::int32_t* const winner = out.winner.data();
    block.open.resize(static_cast<std::size_t>(last - first));
    std::iota(block.open.begin(), block.open.end(), first);
    if (model_.kernel.type != KernelType::precomputed) {
        ladder().settle(rows, block.open, winner, settled);
        // As many rows at a time as leave their kernel values in bounded memory.
        const std::int64_t fit = numbers_per_thread() / std::max<std::int64_t>(padded_, 1);
        const std::int64_t most = model_.pairs() == 1 ? block_rows : std::clamp<std::int64_t>(fit, 1, block_rows);
        block.open_now.swap(block.open);
        block.open.clear();
        const std::int64_t n = static_cast<std::int64_t>(block.open_now.size());
        for (std::int64_t at = 0; at < n; at += most) {
            const std::int64_t now = std::min(most, n - at);
            if (model_.pairs() == 1)
                decide(rows, block.open_now.data() + at, now, block, winner);
            else
                elect(rows, block.open_now.data() + at, now, block, winner);
        }
        settled[double_rung] += n - static_cast<std::int64_t>(block.open.size());
    }
    for (std::int64_t r : block.open) out.evaluations[r] += model_.total_sv();
    label_by_reference(rows, block, winner);
    settled[reference_rung] += static_cast<std::int64_t>(block.open.size());
}

void Exact::fast_values(const Rows& rows, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t pairs = model_.pairs();
    const std::int64_t grain = rows_per_block(rows.rows);
    parallel_for(rows.rows, grain, [&](std::int64_t first, std::int64_t last) {
        Block block;
        for (; first < last; first += grain) {
            const std::int64_t stop = std::min(last, first + grain);
            double* value = out.value.data() + first * pairs;
            evaluate(rows, block.numbers(first, stop), stop - first, block, value);
            for (std::int64_t r = first; r < stop; ++r) {
                const Rounding::Row rounding = rounding_->row(rows, r, false);
                for (std::int64_t p = 0; p < pairs; ++p, ++value) {
                    *value -= model_.rho[p];
                    if (out.with_radius) out.radius[r * pairs + p] = rounding_->radius(p, rounding, *value);
                }
            }
        }
    });
}

// Sums over the support vectors, by their places in the padded order: of the terms that a vector met as a row, and as a
// column.
struct Exact::OwnSums {
    Aligned<double> of_rows, of_columns;
};

// The kernel values of one block of the padded order with another, for both; with itself for its rows.
void Exact::meet(std::int64_t of_rows, std::int64_t of_columns, Block& block, OwnSums& sums) const {
    const Loops& k = loops();
    const Strips& strips = *layout().strips;
    const double* const coef = layout().coef.data();
    const std::int64_t tile = vectors_per_tile(features_.size());
    const std::int64_t first = of_columns * own_block, last = std::min(padded_, first + own_block);
    const std::int64_t end = std::min(padded_, (of_rows + 1) * own_block);
    std::vector<std::int64_t>& places = block.open;  // of the rows at hand
    std::vector<std::int64_t>& which = block.open_now;
    block.kernel_values.resize(static_cast<std::size_t>(block_rows * tile));
    for (std::int64_t at = of_rows * own_block; at < end;) {
        places.clear();
        which.clear();
        for (; at < end && static_cast<std::int64_t>(places.size()) < block_rows; ++at)
            if (order_[at] >= 0) places.push_back(at), which.push_back(order_[at]);
        const std::int64_t n = static_cast<std::int64_t>(places.size());
        strips.take(*model_.vectors, which.data(), n, block.rows);
        for (std::int64_t from = first; from < last; from += tile) {
            const std::int64_t to = std::min(last, from + tile);
            strips.panel_kernel_values(block.rows, from, to, block.kernel_values.data(), tile);
            for (std::int64_t r : block.rows.by_entry)
                strips.kernel_values(block.rows.rows[r], from, to, block.kernel_values.data() + r * tile,
                                     block.scratch);
            for (std::int64_t r = 0; r < n; ++r) {
                const double* const values = block.kernel_values.data() + r * tile;
                sums.of_rows[places[r]] += k.dot(to - from, coef + from, values);
                if (of_rows != of_columns)
                    k.add_scaled(to - from, coef[places[r]], values, sums.of_columns.data() + from);
            }
        }
    }
}

void Exact::own_values(const std::function<void(double)>& progress, Decisions& out) const {
    if (!meets_itself()) throw std::logic_error("no model that meets itself");
    const Rows& sv = *model_.vectors;
    out.resize(sv.rows);
    OwnSums sums{Aligned<double>(static_cast<std::size_t>(padded_), 0.0),
                 Aligned<double>(static_cast<std::size_t>(padded_), 0.0)};
    // In a round every block is met by one other, so that no two threads add to the same sum, and every sum has its
    // terms in the order of the rounds.
    const std::int64_t blocks = (padded_ + own_block - 1) / own_block;
    std::int64_t met = 0;
    for (std::int64_t apart = 0; blocks && 2 * apart <= blocks; ++apart) {
        const std::int64_t meetings = 2 * apart == blocks && apart ? apart : blocks;
        parallel_workers(meetings, 1, [&](Parts& parts) {
            Block block;
            for (std::int64_t b, stop; parts.next(b, stop);) meet(b, (b + apart) % blocks, block, sums);
        });
        met += 2 * meetings;
        progress(static_cast<double>(met) / static_cast<double>(blocks * (blocks + 1)));
    }
    for (std::int64_t s = 0; s < padded_; ++s) {
        const std::int64_t i = order_[s];
        if (i < 0) continue;
        out.value[i] = sums.of_rows[s] + sums.of_columns[s] - model_.rho[0];
        if (out.with_radius) out.radius[i] = rounding_->radius(0, rounding_->row(sv, i, false), out.value[i]);
    }
}

std::int64_t Exact::without_serials(const Rows& rows) const {
    if (model_.kernel.type != KernelType::precomputed) return -1;
    std::int64_t serial = -1;
    const Rows& sv = *model_.vectors;
    for (std::int64_t i = 0; i < sv.rows; ++i)
        serial = std::max(serial, static_cast<std::int64_t>(sv.values[sv.begin(i)]));
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const std::int64_t count = rows.end(r) - rows.begin(r);
        if (count <= serial || (count && rows.indices[rows.end(r) - 1] != count - 1)) return r;
    }
    return -1;
}

void Exact::decision_values(const Rows& rows, bool precise, const std::vector<Threshold>& thresholds,
                            const std::optional<Odds>& odds, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t pairs = model_.pairs();
    std::array<std::atomic<std::int64_t>, 4> rung_rows{};
    const std::int64_t grain = rows_per_block(rows.rows);
    std::int64_t share = grain;
    if (out.labels_alone) {
        // Shares large enough for the rows that a rung leaves open to be many. One row's numbers, one for every pair,
        // may be too many for a thread: few large shares of the rows keep few threads busy.
        const std::int64_t threads = std::clamp<std::int64_t>((1 << 22) / std::max<std::int64_t>(pairs, 1), 1,
                                                              shares_per_thread * get_threads());
        share = std::max(grain, (rows.rows + threads - 1) / threads);
    }
    parallel_for(rows.rows, share, [&](std::int64_t first, std::int64_t last) {
        Block block;
        RungRows settled{};
        if (out.labels_alone) {
            label(rows, first, last, block, out, settled);
            first = last;
        }
        block.open.clear();
        for (; first < last; first += grain) {
            const std::int64_t stop = std::min(last, first + grain);
            double* const value = out.value.data() + first * pairs;
            if (model_.kernel.type != KernelType::precomputed)
                evaluate(rows, block.numbers(first, stop), stop - first, block, value);
            const std::size_t open_before = block.open.size();
            for (std::int64_t r = first; r < stop; ++r) {
                double* const row_value = out.value.data() + r * pairs;
                const Rounding::Row rounding = rounding_->row(rows, r, precise);
                const bool known = rounding.kernel() < std::numeric_limits<double>::infinity();
                // After the sum, as LIBSVM: a large rho must not swallow small terms one by one.
                for (std::int64_t p = 0; p < pairs; ++p) row_value[p] -= model_.rho[p];
                bool sure = true;
                for (std::int64_t p = 0; p < pairs && (sure || out.with_radius); ++p) {
                    const double radius = rounding_->radius(p, rounding, row_value[p]);
                    if (out.with_radius) out.radius[r * pairs + p] = radius;
                    if (model_.regression || !known) {
                        // Where nothing is known of rounding, one of the sums may overflow where the other does not.
                        sure &= known && radius < std::numeric_limits<double>::infinity();
                        continue;
                    }
                    sure &= std::fabs(row_value[p]) > radius;  // false for NaN too
                    for (const auto& [at, margin] : thresholds) sure &= std::fabs(row_value[p] - at) > radius + margin;
                    if (odds) sure = sure && odds_settled(*odds, row_value[p], radius);
                }
                if (!sure) block.open.push_back(r);
            }
            settled[double_rung] += stop - first - static_cast<std::int64_t>(block.open.size() - open_before);
            // Many at a time, for the reference sum does rows side by side, but not many rows of many numbers.
            const std::int64_t count = static_cast<std::int64_t>(block.open.size());
            if (count == 0 || (pairs == 1 && count < block_rows && stop < last)) continue;
            block.value.resize(static_cast<std::size_t>(count * pairs));
            reference_sums(model_, rows, block.open.data(), count, block.value.data());
            for (std::int64_t i = 0; i < count; ++i) {
                std::copy_n(block.value.data() + i * pairs, pairs, out.value.data() + block.open[i] * pairs);
                if (out.with_radius)
                    std::fill_n(out.radius.data() + block.open[i] * pairs, pairs, 0.0);  // svm-predict's own number
                out.evaluations[block.open[i]] += model_.total_sv();
            }
            settled[reference_rung] += count;
            block.open.clear();
        }
        for (std::size_t rung = 0; rung < settled.size(); ++rung) rung_rows[rung] += settled[rung];
    });
    for (std::size_t rung = 0; rung < rung_rows.size(); ++rung) out.rung_rows[rung] = rung_rows[rung];
    out.reference_rows = out.rung_rows[reference_rung];
}

}  // namespace fastsvm

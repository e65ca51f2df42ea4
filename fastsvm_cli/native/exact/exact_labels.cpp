// Labels alone of exact models; exact.cpp has their values.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "exact/exact.h"
#include "simd/loops.h"

namespace fastsvm {

// Class of the nearest vector or, without distances, of the largest sum of kernel values.
int Exact::likely_class(const double* kernel_values) const {
    int best = 0;
    double most = -infinite;
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

// Sums of all pairs with class c: (classes), meaningless at c.
void Exact::sums_of_class(std::int64_t c, const double* kernel_values, std::vector<double>& own, double* sums) const {
    constexpr std::int64_t few = 16;  // below this, calls cost more than the work
    const Loops& k = loops();
    const double* const all = layout().coef.data();
    const std::int64_t classes = model_.classes(), n = model_.nr_sv[c];
    const double* const mine = kernel_values + class_start_[c];
    own.assign(static_cast<std::size_t>(classes - 1),
               0.0);  // by coefficient column
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

// Labels in double precision, several classes; open rows go to block.undecided.
void Exact::elect(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block,
                  std::int32_t* winner) const {
    const std::int64_t pairs = model_.pairs();
    const int classes = static_cast<int>(model_.classes());
    Votes& votes = block.votes;
    block.sums.resize(static_cast<std::size_t>(classes));
    take_rows(rows, which, n, block);
    block.kernel_values.resize(static_cast<std::size_t>(in_panels_ ? n * padded_ : linear_ ? pairs : padded_));
    if (in_panels_) {
        const std::int64_t tile = vectors_per_tile(features_.size());
        for (std::int64_t from = 0; from < padded_; from += tile) {
            const std::int64_t to = std::min(padded_, from + tile);
            double* const values = block.kernel_values.data() + from;
            layout().panels->row_panel_kernel_values(block.rows, from, to, values, padded_);
            for (std::int64_t r : block.rows.by_entry)
                layout().panels->kernel_values(block.rows.rows[r], from, to, values + r * padded_, block.scratch);
        }
    }
    for (std::int64_t r = 0; r < n; ++r) {
        const Rounding::Row rounding = rounding_->row(rows, which[r], false);
        if (!(rounding.kernel() < infinite)) {
            block.undecided.push_back(which[r]);
            continue;
        }
        double* const values = block.kernel_values.data() + (in_panels_ ? r * padded_ : 0);
        if (linear_) {  // decision values
            std::fill_n(values, pairs, 0.0);
            for (std::int64_t e = 0; e < block.columns[r].count(); ++e)
                loops().add_scaled(pairs, block.columns[r].value[e],
                                   weights_.data() + block.columns[r].column[e] * pairs, values);
        } else if (!in_panels_) {
            layout().lists->kernel_values(block.columns[r], rows.squared_norms[which[r]], values);
        }
        const int found = votes.winner(linear_ ? 0 : likely_class(values), [&](int c, int* won) {
            if (!linear_) sums_of_class(c, values, block.own, block.sums.data());
            for (int other = 0; other < classes; ++other) {
                if (other == c) continue;
                const std::int64_t pair = pair_of(model_.classes(), c, other);
                const double value = (linear_ ? values[pair] : block.sums[other]) - model_.rho[pair];
                // Few values are below any pair's radius: one number usually suffices. False for NaN too.
                const bool known = std::fabs(value) > rounding_->radius_of_any(rounding, value) ||
                                   std::fabs(value) > rounding_->radius(pair, rounding, value);
                won[other] = !known ? 0 : (value > 0) == (c < other) ? 1 : -1;
            }
        });
        if (found < 0)
            block.undecided.push_back(which[r]);
        else
            winner[which[r]] = found;
    }
}

// The same with one pair.
void Exact::decide(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block,
                   std::int32_t* winner) const {
    block.value.resize(static_cast<std::size_t>(n));
    evaluate(rows, which, n, one_signed_, block, block.value.data());
    for (std::int64_t r = 0; r < n; ++r) {
        const Rounding::Row rounding = rounding_->row(rows, which[r], false);
        const double value = block.value[r] - model_.rho[0];
        const bool known = rounding.kernel() < infinite;
        if (known && std::fabs(value) > least_radius(0, rounding, value, block.sizes_of(r, 1)))
            winner[which[r]] = value > 0 ? 0 : 1;
        else
            block.undecided.push_back(which[r]);
    }
}

// Labels of block.undecided.
void Exact::label_by_reference(const Rows& rows, Block& block, std::int32_t* winner) const {
    const std::int64_t pairs = model_.pairs();
    // As many rows as the reference sum takes side by side, if their values fit.
    const std::int64_t fit = numbers_per_thread() / std::max<std::int64_t>(pairs, 1);
    const std::int64_t most = fit >= wide_group ? wide_group : fit >= narrow_group ? narrow_group : 1;
    for (std::size_t at = 0; at < block.undecided.size();) {
        const std::int64_t count = std::min(static_cast<std::int64_t>(block.undecided.size() - at), most);
        block.value.resize(static_cast<std::size_t>(count * pairs));
        reference(rows, block.undecided.data() + at, count, block, block.value.data());
        for (std::int64_t r = 0; r < count; ++r, ++at) {
            const double* const value = block.value.data() + r * pairs;
            winner[block.undecided[at]] = pairs == 1 ? (value[0] > 0 ? 0 : 1) : block.votes.elect(value);
        }
    }
}

void Exact::label(const Rows& rows, std::int64_t first, std::int64_t last, bool few, Block& block, Decisions& out,
                  LevelRows& decided) const {
    std::int32_t* const winner = out.winner.data();
    block.undecided.resize(static_cast<std::size_t>(last - first));
    std::iota(block.undecided.begin(), block.undecided.end(), first);
    if (model_.kernel.type != KernelType::precomputed) {
        if (!few) escalation().decide_labels(rows, block.undecided, winner, decided, out.likely);
        // Kernel values stay in bounded memory.
        const std::int64_t fit = numbers_per_thread() / std::max<std::int64_t>(padded_, 1);
        const std::int64_t most = model_.pairs() == 1 ? block_rows : std::clamp<std::int64_t>(fit, 1, block_rows);
        block.undecided_now.swap(block.undecided);
        block.undecided.clear();
        const std::int64_t n = static_cast<std::int64_t>(block.undecided_now.size());
        for (std::int64_t at = 0; at < n; at += most) {
            const std::int64_t now = std::min(most, n - at);
            if (model_.pairs() == 1)
                decide(rows, block.undecided_now.data() + at, now, block, winner);
            else
                elect(rows, block.undecided_now.data() + at, now, block, winner);
        }
        decided[double_level] += n - static_cast<std::int64_t>(block.undecided.size());
    }
    for (std::int64_t r : block.undecided) out.evaluations[r] += model_.total_sv();
    label_by_reference(rows, block, winner);
    decided[reference_level] += static_cast<std::int64_t>(block.undecided.size());
}

void Exact::labels_of_few(const Rows& rows, Decisions& out) const {
    out.resize(rows.rows);
    const auto leased = this->block();
    label(rows, 0, rows.rows, true, *leased, out, out.level_rows);
    out.reference_rows = out.level_rows[reference_level];
}

}  // namespace fastsvm

#include "exact/ladder.h"

#include <algorithm>

#include "exact/grid_tiles.h"
#include "exact/rung_costs.h"
#include "exact/single_tiles.h"
#include "exact/strips.h"

namespace fastsvm {

namespace {
// Support vectors in a trial.
constexpr std::int64_t trial_rows = 64;
// Grid values below this relative error are better than single precision, which cannot settle what they leave open.
constexpr double finer = 5e-7;
}  // namespace

Ladder::Ladder(const SvmModel& model, const Rounding& rounding, const Features& features, bool in_strips)
    : model_(model) {
    double_ns_ = double_cost(features, in_strips);
    if (!LabelSums::holds(model) || !SingleTiles::holds(model)) return;
    sums_.emplace(model, rounding);
    const RungCosts& costs = rung_costs();
    const double d = static_cast<double>(features.size());
    single_ns_ = costs.single.of(d);
    if (std::min({costs.codes.value, costs.bits.of(d), costs.bytes.of(d), costs.halves.of(d)}) >= double_ns_) return;
    std::unique_ptr<GridTiles> grid = GridTiles::of(model, sums_->order());
    if (!grid || grid->cost() >= double_ns_) return;
    const double cost = grid->cost() + left_open(*grid) * double_ns_;
    if (cost < std::min(single_ns_, double_ns_) ||
        cost < std::min(single_ns_ + left_by_single() * double_ns_, double_ns_))
        grid_ = std::move(grid), grid_ns_ = cost;
}

double Ladder::cost() const {
    if (!sums_ || grid_) return sums_ ? grid_ns_ : double_ns_;
    const double left = left_by_single();
    return single_ ? single_ns_ + left * double_ns_ : double_ns_;
}

// Nanoseconds of a kernel value, for a row like the vectors.
double Ladder::double_cost(const Features& features, bool in_strips) const {
    const RungCosts& costs = rung_costs();
    const Rows& sv = *model_.vectors;
    const double n = static_cast<double>(sv.rows);
    if (in_strips) {
        const double entries = static_cast<double>(sv.indices.size()) / n;
        return in_tiles(entries, features.size()) ? costs.tiles.of(static_cast<double>(features.size()))
                                                  : costs.entries.of(entries);
    }
    std::vector<double> share(static_cast<std::size_t>(features.size()), 0.0);
    for (std::int64_t e = 0; e < sv.indices.size(); ++e) share[features.column(sv.indices[e])] += 1;
    double shared = 0;
    for (double count : share) shared += count * count;
    return costs.lists.of(shared / (n * n));
}

// Share of sampled support vectors that the tiles leave open.
double Ladder::left_open(const KernelTiles& tiles) const {
    const std::int64_t total = model_.total_sv(), count = std::min(total, trial_rows);
    std::vector<std::int64_t> open;
    for (std::int64_t i = 0; i < count; ++i) open.push_back(i * total / count);
    std::vector<std::int32_t> winner(static_cast<std::size_t>(total));
    sums_->settle(tiles, *model_.vectors, open, winner.data());
    return static_cast<double>(open.size()) / static_cast<double>(count);
}

double Ladder::left_by_single() const {
    std::call_once(single_made_, [this] {
        if (single_ns_ >= double_ns_) return;
        single_ = std::make_unique<SingleTiles>(model_, sums_->order());
        left_by_single_ = left_open(*single_);
        if (single_ns_ + left_by_single_ * double_ns_ >= double_ns_) single_.reset();
    });
    return left_by_single_;
}

void Ladder::settle(const Rows& rows, std::vector<std::int64_t>& open, std::int32_t* winner, RungRows& settled) const {
    if (!sums_) return;
    const auto climb = [&](const KernelTiles& tiles, std::size_t rung, std::vector<std::int64_t>& some) {
        const std::size_t before = some.size();
        sums_->settle(tiles, rows, some, winner);
        settled[rung] += static_cast<std::int64_t>(before - some.size());
    };
    const auto climb_room = climbs_.lease();
    std::vector<std::int64_t>& too_near = climb_room->too_near;
    too_near.clear();
    if (grid_) climb(*grid_, grid_rung, open);
    if (grid_ && !open.empty()) {
        const auto block = grid_->kept_block();
        grid_->take(rows, open.data(), static_cast<std::int64_t>(open.size()), *block);
        std::vector<std::int64_t>& climbing = climb_room->climbing;
        climbing.clear();
        for (std::size_t i = 0; i < open.size(); ++i)
            (grid_->relative_error(*block, static_cast<std::int64_t>(i)) < finer ? too_near : climbing)
                .push_back(open[i]);
        open.swap(climbing);
    }
    if (!open.empty()) left_by_single();
    if (!open.empty() && single_) climb(*single_, single_rung, open);
    if (too_near.empty()) return;
    open.insert(open.end(), too_near.begin(), too_near.end());
    std::sort(open.begin(), open.end());
}

}  // namespace fastsvm

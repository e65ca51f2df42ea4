#include "exact/ladder.h"

#include <algorithm>
#include <limits>

#include "exact/grid_tiles.h"
#include "exact/single_tiles.h"

namespace fastsvm {

namespace {
// Nanoseconds, measured on one core with AVX-512: a product of the tiles of single precision, of a grid's numbers and
// of its bits, and what else a kernel value takes there; the same of the lists by column.
constexpr double single_product = 0.011, number_product = 0.007, bit_product = 0.002, tile_value = 0.25;
constexpr double list_product = 0.7, list_value = 0.7;
// A trial on so many support vectors, which are harder than most rows: a rung that leaves more than this share of them
// open is left out.
constexpr std::int64_t trial_rows = 64;
constexpr double open_max = 0.85;
// Kernel values on a grid are cheaper than those of single precision, but not by more than this share of open rows.
constexpr double grid_gain = 0.3;
}  // namespace

Ladder::Ladder(const SvmModel& model, const Rounding& rounding, const Features& features, bool in_strips)
    : model_(model) {
    if (!LabelSums::holds(model) || !SingleTiles::holds(model)) return;
    sums_.emplace(model, rounding);
    const double d = static_cast<double>(features.size());
    const double cost = in_strips ? std::numeric_limits<double>::infinity() : list_cost(features);
    single_cheaper_ = single_product * d + tile_value < cost;
    std::unique_ptr<GridTiles> grid;
    if (bit_product * d + tile_value < cost) grid = GridTiles::of(model, sums_->order());
    if (grid && (grid->binary() ? bit_product : number_product) * d + tile_value < cost) {
        const double left = left_open(*grid);
        if (left <= grid_gain || (left <= open_max && left <= grid_gain + left_by_single())) grid_ = std::move(grid);
    }
}

// What a kernel value costs by the lists, in nanoseconds: of a row like the vectors, a product for every entry that it
// shares with a vector.
double Ladder::list_cost(const Features& features) const {
    const Rows& sv = *model_.vectors;
    std::vector<double> share(static_cast<std::size_t>(features.size()), 0.0);
    for (std::int64_t e = 0; e < sv.indices.size(); ++e) share[features.column(sv.indices[e])] += 1;
    double shared = 0;
    for (double count : share) shared += count * count;
    return list_product * shared / (static_cast<double>(sv.rows) * static_cast<double>(sv.rows)) + list_value;
}

// The share of the model's own vectors, taken for rows, that the tiles leave open.
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
        if (!single_cheaper_) return;
        single_ = std::make_unique<SingleTiles>(model_, sums_->order());
        left_by_single_ = left_open(*single_);
        if (left_by_single_ > open_max) single_.reset();
    });
    return left_by_single_;
}

void Ladder::settle(const Rows& rows, std::vector<std::int64_t>& open, std::int32_t* winner, RungRows& settled) const {
    if (!sums_) return;
    const auto climb = [&](const KernelTiles& tiles, std::size_t rung) {
        const std::size_t before = open.size();
        sums_->settle(tiles, rows, open, winner);
        settled[rung] += static_cast<std::int64_t>(before - open.size());
    };
    if (grid_) climb(*grid_, grid_rung);
    if (open.empty()) return;
    left_by_single();
    if (single_) climb(*single_, single_rung);
}

}  // namespace fastsvm

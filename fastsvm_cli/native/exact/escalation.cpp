#include "exact/escalation.h"

#include <algorithm>
#include <cstring>

#include "exact/labels/grid_tiles.h"
#include "exact/values/panels.h"
#include "simd/loops.h"

namespace fastsvm {

namespace {

// Support vectors in a trial.
constexpr std::int64_t trial_rows = 64;
// Grid values below this relative error are better than single precision, which cannot decide what they leave
// undecided.
constexpr double finer = 5e-7;

constexpr LevelCost none{infinite, 0};

// From scripts/measure_levels.cpp: single, codes, bits, bytes, halves, tiles, entries, lists; several, reference,
// proof. Only ratios within a row matter; each row is from one machine.

// Measured (AVX-512 and VNNI): single, bits, bytes, lists. Tiles and entries: twice single precision's products, three
// times its exponential. Several, reference and proof: by AVX2's ratios.
[[maybe_unused]] constexpr LevelCosts avx512{{0.25, 0.011}, none,          {0.25, 0.002}, {0.25, 0.007},
                                             none,          {0.75, 0.022}, {2, 0.028},    {0.7, 0.7},
                                             {1.1, 0.022},  {0.8, 0.033},  {250, 30}};
// AMD EPYC (Zen 1), 2026-11-22.
constexpr LevelCosts avx2{{1.1, 0.058}, {0.51, 0.044}, none,        none,        {2.4, 0.056}, {2.9, 0.14},
                          {5.5, 0.19},  {3.9, 1.7},    {4.6, 0.15}, {3.1, 0.22}, {280, 33}};
[[maybe_unused]] constexpr LevelCosts baseline{{1.5, 0.11}, none,        {1.4, 0.016}, none,
                                               {1.4, 0.08}, {7.7, 0.23}, {10, 0.24},   {8.3, 1.6},
                                               {8.9, 0.24}, {8.8, 0.3},  {290, 32}};

}  // namespace

const LevelCosts& level_costs() {
#if defined(__aarch64__)
    return avx2;  // NEON was not measured: the AVX2 machine splits its registers into two of NEON's size
#else
    const char* const name = loops().name;
    if (std::strncmp(name, "avx512", 6) == 0) return avx512;  // without VNNI: not measured
    return std::strcmp(name, "avx2") == 0 ? avx2 : baseline;
#endif
}

Escalation::Escalation(const SvmModel& model, const Rounding& rounding, const Features& features, bool in_panels)
    : model_(model) {
    double_ns_ = double_cost(features, in_panels);
    if (!LabelSums::holds(model) || !SingleTiles::holds(model)) return;
    sums_.emplace(model, rounding);
    const LevelCosts& costs = level_costs();
    const double d = static_cast<double>(features.size());
    single_ns_ = costs.single.of(d);
    if (std::min({costs.codes.value, costs.bits.of(d), costs.bytes.of(d), costs.halves.of(d)}) >= double_ns_) return;
    std::unique_ptr<GridTiles> grid = GridTiles::of(model, sums_->order());
    if (!grid || grid->cost() >= double_ns_) return;
    const double cost = grid->cost() + left_undecided(*grid) * double_ns_;
    if (cost < std::min(single_ns_, double_ns_) ||
        cost < std::min(single_ns_ + left_by_single() * double_ns_, double_ns_))
        grid_ = std::move(grid);
}

// Nanoseconds of a kernel value, for a row like the vectors.
double Escalation::double_cost(const Features& features, bool in_panels) const {
    const LevelCosts& costs = level_costs();
    const Rows& sv = *model_.vectors;
    const double n = static_cast<double>(sv.rows);
    if (in_panels) {
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

// Share of sampled support vectors that the tiles leave undecided.
double Escalation::left_undecided(const KernelTiles& tiles) const {
    const std::int64_t total = model_.total_sv(), count = std::min(total, trial_rows);
    std::vector<std::int64_t> undecided;
    for (std::int64_t i = 0; i < count; ++i) undecided.push_back(i * total / count);
    std::vector<std::int32_t> winner(static_cast<std::size_t>(total));
    sums_->decide_labels(tiles, *model_.vectors, undecided, winner.data());
    return static_cast<double>(undecided.size()) / static_cast<double>(count);
}

double Escalation::left_by_single() const {
    std::call_once(single_made_, [this] {
        if (single_ns_ >= double_ns_) return;
        single_ = std::make_unique<SingleTiles>(model_, sums_->order());
        left_by_single_ = left_undecided(*single_);
        if (single_ns_ + left_by_single_ * double_ns_ >= double_ns_) single_.reset();
    });
    return left_by_single_;
}

void Escalation::decide_labels(const Rows& rows, std::vector<std::int64_t>& undecided, std::int32_t* winner,
                               LevelRows& decided, bool likely) const {
    if (!sums_) return;
    const auto attempt = [&](const KernelTiles& tiles, std::size_t level, std::vector<std::int64_t>& some) {
        const std::size_t before = some.size();
        sums_->decide_labels(tiles, rows, some, winner, likely);
        decided[level] += static_cast<std::int64_t>(before - some.size());
    };
    const auto scratch = scratch_.lease();
    std::vector<std::int64_t>& too_near = scratch->too_near;
    too_near.clear();
    if (grid_) attempt(*grid_, grid_level, undecided);
    if (grid_ && !undecided.empty()) {
        const auto block = grid_->leased_block();
        grid_->take(rows, undecided.data(), static_cast<std::int64_t>(undecided.size()), *block);
        std::vector<std::int64_t>& escalating = scratch->escalating;
        escalating.clear();
        for (std::size_t i = 0; i < undecided.size(); ++i)
            (grid_->relative_error(*block, static_cast<std::int64_t>(i)) < finer ? too_near : escalating)
                .push_back(undecided[i]);
        undecided.swap(escalating);
    }
    if (!undecided.empty()) left_by_single();
    if (!undecided.empty() && single_) attempt(*single_, single_level, undecided);
    if (too_near.empty()) return;
    undecided.insert(undecided.end(), too_near.begin(), too_near.end());
    std::sort(undecided.begin(), undecided.end());
}

}  // namespace fastsvm

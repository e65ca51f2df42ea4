// Levels below double precision: their estimated costs, and which ones a model uses.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "answers/predictions.h"
#include "exact/labels/label_sums.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "simd/parallel.h"
#include "text/rows.h"

namespace fastsvm {

// Nanoseconds of a kernel value: a fixed part, and a part per product.
struct LevelCost {
    double value, product;
    double of(double products) const { return value + product * products; }
};

// The costs with one instruction set. Only their ratios matter.
struct LevelCosts {
    LevelCost single;  // one product per feature
    // On a grid, a product per unusual code of the row (codes), or per feature in the words needed: bits, bytes, 16
    // bits. Infinite if not supported.
    LevelCost codes, bits, bytes, halves;
    // Double precision, a product per feature in register tiles; per entry of a row alone with the panels; per shared
    // entry in column lists.
    LevelCost tiles, entries, lists;
    // For several classes and the values of all pairs: double precision, a product per feature in register tiles; the
    // reference sum, a product per feature of full rows.
    LevelCost several, reference;
    // Proof of coupled probabilities, per class: a product per class.
    LevelCost proof;
};

// The costs with the chosen instruction set, from a table of measurements (scripts/measure_levels.cpp).
const LevelCosts& level_costs();

// The levels below double precision: whole numbers if on one grid, then single precision. Each is used if it saves
// time, by level_costs and the share of the model's vectors that a trial leaves undecided.
class Escalation {
public:
    // model and rounding must outlive this. in_panels: whether double precision uses panels.
    Escalation(const SvmModel& model, const Rounding& rounding, const Features& features, bool in_panels);
    // As LabelSums::decide_labels; counts rows by level in `decided`.
    void decide_labels(const Rows& rows, std::vector<std::int64_t>& undecided, std::int32_t* winner, LevelRows& decided,
                       bool likely = false) const;

private:
    struct Scratch {
        std::vector<std::int64_t> too_near, escalating;
    };
    double double_cost(const Features& features, bool in_panels) const;
    double left_undecided(const KernelTiles& tiles) const;
    double left_by_single() const;

    const SvmModel& model_;
    std::optional<LabelSums> sums_;  // empty: no levels
    std::unique_ptr<KernelTiles> grid_;
    double single_ns_ = 0, double_ns_ = 0;  // per kernel value
    // Built on first use: few rows escalate to it from a grid.
    mutable std::once_flag single_made_;
    mutable std::unique_ptr<const KernelTiles> single_;  // null if it does not pay
    mutable double left_by_single_ = 1;                  // share of sampled support vectors
    Pool<Scratch> scratch_;
};

}  // namespace fastsvm

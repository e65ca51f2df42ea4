// Levels below double precision: their estimated costs, labels from their kernel values, and which ones a model uses.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "answers/predictions.h"
#include "exact/labels/kernel_tiles.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
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

// LabelSums: labels from sums of single-precision kernel values, where error bounds decide them.

// Sums with error bounds (B25 and B26 in PROOFS.md). One pair: positive and negative coefficients are summed apart.
// Several classes: only pairs that can change the winner are summed.
class LabelSums {
public:
    // rounding: of the same model; must outlive this.
    LabelSums(const SvmModel& model, const Rounding& rounding);
    ~LabelSums();
    // Whether the model has labels, its kernel is of distances, and its coefficients fit. The constructor requires it.
    static bool holds(const SvmModel& model);
    // The order of vectors that the tiles must have; -1 for padding.
    const std::vector<std::int64_t>& order() const { return order_; }

    // Sets winner[row], as in Decisions, of those rows of `undecided` that it decides, and removes them from it.
    // likely: one pair decides by the sign of its value, whatever the error bound, if there is one.
    void decide_labels(const KernelTiles& tiles, const Rows& rows, std::vector<std::int64_t>& undecided,
                       std::int32_t* winner, bool likely = false) const;

private:
    struct Scratch;
    void decide_pair(const KernelTiles& tiles, const Rows& rows, const std::int64_t* which, std::int64_t n, bool likely,
                     Scratch& scratch, std::vector<std::int64_t>& undecided, std::int32_t* winner) const;
    void decide_classes(const KernelTiles& tiles, const Rows& rows, const std::int64_t* which, std::int64_t n,
                        Scratch& scratch, std::vector<std::int64_t>& undecided, std::int32_t* winner) const;
    struct ClassRow;
    void sums_of_class(std::int64_t c, int rows, const float* const* values, Scratch& scratch) const;
    int count(int c, std::int64_t r, const double* sums, Scratch& scratch, int& next) const;
    // Error of scale * weight, a computed sum of positive terms.
    struct Share {
        double relative = 0, absolute = 0;
        double of(double weight) const { return relative * weight + absolute; }
    };
    Share share(double relative_error) const;

    const SvmModel& model_;
    const Rounding& rounding_;
    std::vector<std::int64_t> order_;
    std::int64_t padded_ = 0;
    double scale_ = 1, inexact_ = 0;  // scale_: power of two that divides coefficients; inexact_: their relative error
    std::int64_t positive_ = 0;       // one pair: end of the positive coefficients
    std::vector<std::int64_t> class_start_;  // several pairs: (classes)
    std::vector<std::int64_t> run_;          // (classes): number of vectors, with padding
    Aligned<float> coef_;                    // (nr_class - 1, padded); their sizes if there is one pair
    Aligned<float> largest_;                 // (padded): largest size of a vector's coefficients
    Pool<Scratch> scratches_;
};

// Escalation: labels of an exact model by the levels below double precision.

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

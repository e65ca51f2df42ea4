// Labels from kernel values in low precision, where error bounds decide them.
#pragma once
#include <cstdint>
#include <vector>

#include "answers/predictions.h"
#include "exact/labels/kernel_tiles.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
#include "simd/parallel.h"
#include "text/rows.h"

namespace fastsvm {

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

}  // namespace fastsvm

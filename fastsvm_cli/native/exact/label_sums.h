// Labels from kernel values in single precision, if their error bounds settle them.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "exact/all_pairs.h"
#include "exact/kernel_tiles.h"
#include "exact/rounding.h"
#include "exact/svm_model.h"
#include "exact/votes.h"
#include "simd/aligned.h"
#include "simd/pool.h"

namespace fastsvm {

// Terms err relative to themselves, so the sum of |a_i| K_i bounds the error of that of a_i K_i. One pair: positive and
// negative coefficients are summed apart; their difference is the value, their sum the bound. More: a class's sum of
// max_p |a_ip| K_i bounds all its pairs (B25 and B26 in bounds.py), and only pairs that can change the winner are
// summed. Many classes of few vectors: all_pairs.h.
class LabelSums {
public:
    // rounding: of the same model; must outlive this.
    LabelSums(const SvmModel& model, const Rounding& rounding);
    ~LabelSums();
    // Whether there are labels, and coefficients fit. Required below.
    static bool holds(const SvmModel& model);
    // Vector order for the tiles, -1 for padding.
    const std::vector<std::int64_t>& order() const { return all_pairs_ ? all_pairs_->order() : order_; }

    // Sets winner[row] of settled rows, as in Decisions; `open` keeps the others.
    void settle(const KernelTiles& tiles, const Rows& rows, std::vector<std::int64_t>& open,
                std::int32_t* winner) const;

private:
    struct Scratch;
    void settle_pair(const KernelTiles& tiles, const Rows& rows, const std::int64_t* which, std::int64_t n,
                     Scratch& scratch, std::vector<std::int64_t>& open, std::int32_t* winner) const;
    void settle_classes(const KernelTiles& tiles, const Rows& rows, const std::int64_t* which, std::int64_t n,
                        Scratch& scratch, std::vector<std::int64_t>& open, std::int32_t* winner) const;
    void settle_pairs(const KernelTiles& tiles, const Rows& rows, const std::int64_t* which, std::int64_t n,
                      Scratch& scratch, std::vector<std::int64_t>& open, std::int32_t* winner) const;
    struct ClassRow;  // facts about a row before its classes are compared
    const double* sizes_of(std::int64_t r, const Scratch& scratch) const;
    void sums_of_class(std::int64_t c, int rows, const float* const* values, Scratch& scratch) const;
    void win_all(std::int64_t c, int rows, const std::int64_t* row, const Scratch& scratch, bool* won) const;
    int elect(int likely, std::int64_t r, const double* met, Scratch& scratch, const float* values) const;
    // Error of scale * weight, a computed sum of positive terms with relative errors.
    struct Share {
        double relative = 0, absolute = 0;
        double of(double weight) const { return relative * weight + absolute; }
    };
    Share share(double relative_error) const;

    const SvmModel& model_;
    const Rounding& rounding_;
    std::unique_ptr<const AllPairs> all_pairs_;  // null if it does not pay; else the members below are unused
    std::vector<std::int64_t> order_;
    std::int64_t padded_ = 0;
    double scale_ = 1, inexact_ = 0;         // power of two that scales coefficients; their relative error
    std::int64_t positive_ = 0;              // one pair: positive coefficients precede this index
    std::vector<std::int64_t> class_start_;  // more pairs: (classes)
    std::vector<std::int64_t> run_;          // (classes): number of vectors, with the padding after them
    Aligned<float> coef_;                    // (nr_class - 1, padded), for one pair their sizes; 0 in the padding
    Aligned<float> largest_;                 // (padded): largest size of a vector's coefficients
    Pool<Scratch> scratches_;
};

}  // namespace fastsvm

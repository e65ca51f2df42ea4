// Labels from kernel values in single precision, where their errors leave them no other.
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

// A term of a kernel sum is wrong relative to itself, so that a sum of |a_i| K_i bounds what is wrong with the sum of
// a_i K_i. With one pair, positive and negative coefficients are summed apart: their difference is the value, their sum
// the bound. With more, a sum per class of max_p |a_ip| K_i bounds all its pairs (B25 and B26 in bounds.py), and only
// the pairs that can still change the winner are summed. Many classes of few vectors are settled pair by pair, side by
// side (all_pairs.h).
class LabelSums {
public:
    // rounding: of the same model; must outlive this.
    LabelSums(const SvmModel& model, const Rounding& rounding);
    ~LabelSums();
    // Whether there are labels, and the coefficients fit: a condition for everything below.
    static bool holds(const SvmModel& model);
    // The vectors as the tiles must have them: row numbers, -1 for padding.
    const std::vector<std::int64_t>& order() const { return all_pairs_ ? all_pairs_->order() : order_; }

    // winner[row] for every row that is settled, as Decisions::winner has it; `open` keeps the others.
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
    struct ClassRow;  // what is known of a row before its classes are compared
    const double* sizes_of(std::int64_t r, const Scratch& scratch) const;
    void sums_of_class(std::int64_t c, int rows, const float* const* values, Scratch& scratch) const;
    void win_all(std::int64_t c, int rows, const std::int64_t* row, const Scratch& scratch, bool* won) const;
    int elect(int likely, std::int64_t r, const double* met, Scratch& scratch, const float* values) const;
    // Of scale * weight, the computed sum of positive terms that an error of these terms is relative to.
    struct Share {
        double relative = 0, absolute = 0;
        double of(double weight) const { return relative * weight + absolute; }
    };
    Share share(double relative_error) const;

    const SvmModel& model_;
    const Rounding& rounding_;
    std::unique_ptr<const AllPairs> all_pairs_;  // null where it does not pay; else nothing of what follows
    std::vector<std::int64_t> order_;
    std::int64_t padded_ = 0;
    double scale_ = 1, inexact_ = 0;         // of the coefficients: a power of two; the relative error of the rest
    std::int64_t positive_ = 0;              // one pair: positive coefficients stand before this
    std::vector<std::int64_t> class_start_;  // more: (classes)
    std::vector<std::int64_t> run_;          // (classes): vectors, with the padding behind them
    Aligned<float> coef_;                    // (nr_class - 1, padded), of one pair their sizes; 0 in the padding
    Aligned<float> largest_;                 // (padded): the largest size of a vector's coefficients
    Pool<Scratch> scratches_;
};

}  // namespace fastsvm

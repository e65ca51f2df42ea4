// Labels of many classes with few vectors each, pairs side by side.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "exact/kernel_tiles.h"
#include "exact/rounding.h"
#include "exact/svm_model.h"
#include "simd/aligned.h"
#include "simd/pair_votes.h"

namespace fastsvm {

// Largest coefficient's exponent: products with kernel values are never denormal, which is slow.
constexpr int coefficient_exponent = 60;

// Tries a few likely classes first: one that wins all its pairs is the label. Otherwise all pairs vote, in single
// precision with a proven error (B38 in bounds.py). Open pairs that can change the winner get svm-predict's own values.
// If rounding could decide even then, the row climbs; so rows settled here are settled for sums in any order.
class AllPairs {
public:
    // A thread's scratch memory.
    struct Scratch {
        Aligned<float> radii;            // (rows, stride)
        Aligned<std::int32_t> low;       // (vote_rows, stride)
        Aligned<float> mixed;            // (vote_rows, vectors + 1, stride)
        std::vector<std::int32_t> open;  // (vote_rows, most open, 2)
        std::vector<PairVotes> rows, tied;
        std::vector<std::int64_t> tied_at;
        std::vector<int> high, votes;
    };
    // Null if classes are few, large or uneven, or tables or a rho too large. scale: a power of two; tables hold
    // coefficients divided by it. model, rounding: must outlive this.
    static std::unique_ptr<const AllPairs> of(const SvmModel& model, const Rounding& rounding, double scale);

    // Vector order for the tiles, -1 for padding. Class c's t-th vector is at t * stride + c: classes are side by side.
    const std::vector<std::int64_t>& order() const { return order_; }
    // Sets winner[row] of settled rows; adds the others to `open`. values: (rows, order), from the tiles.
    void settle(const KernelTiles& tiles, const KernelTiles::Block& block, const Rows& rows, const std::int64_t* which,
                std::int64_t n, const float* values, Scratch& scratch, std::vector<std::int64_t>& open,
                std::int32_t* winner) const;

private:
    AllPairs(const SvmModel& model, const Rounding& rounding, double scale, std::int64_t stride, std::int64_t vectors);
    bool measure(double relative_error, const KernelRounding& theirs, const PairVotes& row,
                 std::int64_t* nearest) const;
    int elect(const Rows& rows, std::int64_t row, const PairVotes& votes, Scratch& scratch) const;

    const SvmModel& model_;
    const Rounding& rounding_;
    double scale_;
    std::vector<std::int64_t> order_, first_;  // first_: (classes), index of each class's first vector in the model
    PairTables tables_{};
    Aligned<float> own_, other_, rho_, largest_;
};

}  // namespace fastsvm

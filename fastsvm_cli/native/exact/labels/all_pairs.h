// AllPairs: labels for many classes of few vectors, in single precision.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "exact/labels/kernel_tiles.h"
#include "exact/reference/rounding.h"
#include "exact/reference/svm_model.h"
#include "simd/aligned.h"
#include "simd/pair_votes.h"

namespace fastsvm {

// Exponent of the largest coefficient: products with kernel values are then never denormal, which is slow.
constexpr int coefficient_exponent = 60;

// A likely class that wins all its pairs is the label. Otherwise all pairs vote in single precision, and undecided
// pairs that can change the winner get svm-predict's own values (B38 in PROOFS.md). If rounding could decide one of
// those, the row escalates: labels set here hold for sums in any order.
class AllPairs {
public:
    struct Scratch {
        Aligned<float> radii;                 // (rows, stride)
        Aligned<std::int32_t> low;            // (vote_rows, stride)
        Aligned<float> mixed;                 // (vote_rows, vectors + 1, stride)
        std::vector<std::int32_t> undecided;  // (vote_rows, most open, 2)
        std::vector<PairVotes> rows, tied;
        std::vector<std::int64_t> tied_at;
        std::vector<int> high, votes;
    };
    // Null if it does not pay, or numbers are too large. scale: power of two that divides the tables' coefficients.
    // model and rounding must outlive this.
    static std::unique_ptr<const AllPairs> of(const SvmModel& model, const Rounding& rounding, double scale);

    // For the tiles: vector t of class c is at t * stride + c, -1 for padding.
    const std::vector<std::int64_t>& order() const { return order_; }
    // Sets winner[row] of decided rows; adds the others to `undecided`. values: (rows, order).
    void decide_labels(const KernelTiles& tiles, const KernelTiles::Block& block, const Rows& rows,
                       const std::int64_t* which, std::int64_t n, const float* values, Scratch& scratch,
                       std::vector<std::int64_t>& undecided, std::int32_t* winner) const;

private:
    AllPairs(const SvmModel& model, const Rounding& rounding, double scale, std::int64_t stride, std::int64_t vectors);
    bool measure(double relative_error, const KernelRounding& theirs, const PairVotes& row,
                 std::int64_t* nearest) const;
    int elect(const Rows& rows, std::int64_t row, const PairVotes& votes, Scratch& scratch) const;

    const SvmModel& model_;
    const Rounding& rounding_;
    double scale_;
    std::vector<std::int64_t> order_, first_;  // first_: (classes), a class's first vector in the model
    PairTables tables_{};
    Aligned<float> own_, other_, rho_, largest_;
};

}  // namespace fastsvm

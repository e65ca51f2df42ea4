// Labels of many classes of few vectors: the pairs side by side.
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

// The largest coefficient has this exponent, so that no product with a kernel value is denormal, which takes long.
constexpr int coefficient_exponent = 60;

// A class that wins all its pairs is the label: a few likely ones are tried. Where none does, all pairs vote, in single
// precision with an error that is proven (B38 in bounds.py). Of the pairs whose sign that leaves open, and that can
// still change the winner, svm-predict's own values are computed. A row that rounding decides even then climbs, so that
// whatever is settled here is settled for a sum in any order.
class AllPairs {
public:
    // What one thread holds of the rows it is at.
    struct Scratch {
        Aligned<float> radii;            // (rows, stride)
        Aligned<std::int32_t> low;       // (vote_rows, stride)
        Aligned<float> mixed;            // (vote_rows, vectors + 1, stride)
        std::vector<std::int32_t> open;  // (vote_rows, most open, 2)
        std::vector<PairVotes> rows, tied;
        std::vector<std::int64_t> tied_at;
        std::vector<int> high, votes;
    };
    // Null where the classes are few or large, of very different sizes, or so many that their tables would be too
    // large. scale: a power of two, the coefficients' over the ones that are computed with. model, rounding: must
    // outlive this.
    static std::unique_ptr<const AllPairs> of(const SvmModel& model, const Rounding& rounding, double scale);

    // The vectors as the tiles must have them: row numbers, -1 for padding. The t-th vector of class c stands at t *
    // stride + c, so that the classes' vectors are side by side.
    const std::vector<std::int64_t>& order() const { return order_; }
    // winner[row] for every row that is settled of those taken; the others go to `open`. values: (rows, order), of the
    // tiles.
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
    std::vector<std::int64_t> order_, first_;  // first_: (classes), of their vectors in the model
    PairTables tables_{};
    Aligned<float> own_, other_, rho_, largest_;
};

}  // namespace fastsvm

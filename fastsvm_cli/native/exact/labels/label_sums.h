// Labels from kernel values in low precision: sums of pairs, and the election of a class.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "exact/labels/kernel_tiles.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "simd/aligned.h"
#include "simd/parallel.h"

namespace fastsvm {

// LIBSVM's choice, the first class with most votes, or -1 if open (B21 of PROOFS.md). low, high: (classes), certain and
// possible votes.
inline int elected(int classes, const int* low, const int* high) {
    const int best = static_cast<int>(std::max_element(low, low + classes) - low);
    for (int c = 0; c < classes; ++c)
        if (c != best && !(low[best] > high[c] || (low[best] == high[c] && best < c))) return -1;
    return best;
}

// The votes of one row. Reuses its memory: one object per thread.
class Votes {
public:
    explicit Votes(int classes) : classes_(classes), low_(classes), high_(classes), met_(classes), won_(classes) {}

    // Class that svm-predict elects, or -1 if open after all candidates. meet(candidate, won) sets won[other] for
    // every other class: 1 if the candidate provably has the pair's vote, -1 if the other has it, 0 if open. likely:
    // the first candidate; the next ones have the most possible votes.
    template <class Meet> int winner(int likely, Meet meet) {
        begin_candidates();
        for (int candidate = likely; candidate >= 0; candidate = next_candidate()) {
            meet(candidate, won());
            if (const int found = count(candidate); found >= 0) return found;
        }
        return -1;
    }
    // Its steps, for several rows in turn: count() takes won() of a candidate, and returns the class or -1;
    // next_candidate() is -1 after the last.
    void begin_candidates() {
        std::fill(low_.begin(), low_.end(), 0);
        std::fill(high_.begin(), high_.end(), classes_ - 1);
        std::fill(met_.begin(), met_.end(), 0);
    }
    int* won() { return won_.data(); }
    int count(int candidate) {
        for (int other = 0; other < classes_; ++other) {
            if (other == candidate || met_[other]) continue;
            low_[candidate] += won_[other] > 0;
            low_[other] += won_[other] < 0;
            high_[candidate] -= won_[other] < 0;
            high_[other] -= won_[other] > 0;
        }
        met_[candidate] = 1;
        return elected(classes_, low_.data(), high_.data());
    }
    int next_candidate() const {
        int best = -1;
        for (int c = 0; c < classes_; ++c)
            if (!met_[c] && (best < 0 || high_[c] > high_[best] || (high_[c] == high_[best] && low_[c] > low_[best])))
                best = c;
        return best;
    }

    // The same from all pairs, none undecided: begin, cast each pair once, in any order, then elect.
    void begin() { std::fill(low_.begin(), low_.end(), 0); }
    void cast(int i, int j, bool for_i) {  // no branch: signs are unpredictable
        low_[i] += for_i;
        low_[j] += !for_i;
    }
    int elect() const { return static_cast<int>(std::max_element(low_.begin(), low_.end()) - low_.begin()); }

private:
    int classes_;
    std::vector<int> low_, high_;
    std::vector<char> met_;
    std::vector<int> won_;
};

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
    const double* sizes_of(std::int64_t r, const Scratch& scratch) const;
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

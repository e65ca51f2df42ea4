// Elects a class as LIBSVM does, by the votes of pairs of which some are undecided.
#pragma once
#include <algorithm>
#include <vector>

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

}  // namespace fastsvm

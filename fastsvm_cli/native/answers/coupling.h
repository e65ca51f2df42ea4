// Class probabilities from decision values of pairs, as in LIBSVM.
#pragma once
#include <cstddef>
#include <vector>

namespace fastsvm {

// A pair's sigmoid: its first class has the probability 1 / (1 + exp(A f + B)).
struct Odds {
    int classes = 2;
    std::vector<double> a, b;  // (pairs)
};

// Computes a row's class probabilities, and decides whether rounding could change what is printed. Reuses its memory:
// one object per thread.
class Coupling {
public:
    Coupling() = default;
    // odds: must outlive this.
    explicit Coupling(const Odds& odds) { take(odds); }
    // Replaces the odds, which must outlive this.
    void take(const Odds& odds);
    // Writes p, (classes), from value, (pairs). Two classes have their pair's probabilities. More classes couple theirs
    // by method 2 of Wu, Lin and Weng (2004), iterated as in LIBSVM.
    void probabilities(const double* value, double* p);
    // Iterates the probabilities of two classes as those of more, as scikit-learn's LIBSVM does. p: (2), from
    // probabilities().
    void iterate_pair(double* p);
    // Whether probabilities and label print alike for all svm-predict values within the radii (more than two classes:
    // B39 in PROOFS.md). value, radius: (pairs).
    bool decided(const double* value, const double* radius);

private:
    struct Errors;
    void make_q();
    template <class Watch> bool couple(Watch& watch);
    std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * width_ + static_cast<std::size_t>(j); }

    const Odds* odds_ = nullptr;
    std::size_t classes_ = 0, width_ = 0;   // a "row" below: `width_` numbers, padded with zeros
    std::vector<double> r_, q_;             // (classes) rows: pair probabilities; iteration matrix
    std::vector<double> p_, qp_;            // one row
    std::vector<double> wrong_;             // (classes) rows: errors of r against svm-predict's
    std::vector<double> q_wrong_;           // (classes) rows: errors of q
    std::vector<double> q_diagonal_;        // one row
    std::vector<double> squares_;           // one row: twice each column's sum of squares in wrong_
    std::vector<double> relative_, noise_;  // one row each: errors of p and qp
};

}  // namespace fastsvm

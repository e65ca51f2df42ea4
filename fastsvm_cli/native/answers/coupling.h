// Probabilities of classes from the decision values of their pairs, as LIBSVM computes them.
#pragma once
#include <cstddef>
#include <vector>

namespace fastsvm {

// A and B of each pair's sigmoid: 1 / (1 + exp(A f + B)) is the probability of its first class.
struct Odds {
    int classes = 2;
    std::vector<double> a, b;  // (pairs)
};

// Probabilities of one row's pairs and classes, and bounds on their distance from svm-predict's.
class Coupling {
public:
    Coupling() = default;
    // odds: must outlive this.
    explicit Coupling(const Odds& odds) { take(odds); }
    void take(const Odds& odds);
    // p: (classes). Two: the pair's own; more: Wu, Lin and Weng (2004), method 2, iterated as LIBSVM does.
    void probabilities(const double* value, double* p);
    // Whether probabilities and label print alike for all svm-predict values within the radii (more than two classes:
    // B39 in bounds.py). value, radius: (pairs).
    bool settled(const double* value, const double* radius);

private:
    struct Errors;
    void make_q();
    template <class Watch> bool couple(Watch& watch);
    std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * width_ + static_cast<std::size_t>(j); }

    const Odds* odds_ = nullptr;
    std::size_t classes_ = 0, width_ = 0;   // a "row" below is `width_` numbers, padded with zeros
    std::vector<double> r_, q_;             // (classes) rows: pair probabilities; the matrix of the iteration
    std::vector<double> p_, qp_;            // one row
    std::vector<double> wrong_;             // (classes) rows: how far r can be from svm-predict's
    std::vector<double> q_wrong_;           // (classes) rows: how far q can be
    std::vector<double> q_diagonal_;        // one row
    std::vector<double> squares_;           // one row: twice the sum of squares of each column of wrong_
    std::vector<double> relative_, noise_;  // one row each: errors of p and of qp
};

}  // namespace fastsvm

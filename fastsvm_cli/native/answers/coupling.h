// Probabilities of classes from the decision values of their pairs, as LIBSVM has them.
#pragma once
#include <cstddef>
#include <vector>

namespace fastsvm {

// A and B of each pair's sigmoid: 1 / (1 + exp(A f + B)) is the probability of its first class.
struct Odds {
    int classes = 2;
    std::vector<double> a, b;  // (pairs)
};

// The pairs' probabilities, those of the classes, and how far svm-predict's can be from them, for one row at a time.
class Coupling {
public:
    Coupling() = default;
    // odds: must outlive what follows.
    explicit Coupling(const Odds& odds) { take(odds); }
    void take(const Odds& odds);
    // p: (classes), of two classes the pair's own, of more Wu, Lin and Weng (2004), method 2, as LIBSVM iterates it.
    void probabilities(const double* value, double* p);
    // Whether probabilities and label print alike wherever within the radii svm-predict's decision values lie (of more
    // than two classes: B39 in bounds.py). value, radius: (pairs).
    bool settled(const double* value, const double* radius);

private:
    struct Errors;
    void make_q();
    template <class Watch> bool couple(Watch& watch);
    std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * width_ + static_cast<std::size_t>(j); }

    const Odds* odds_ = nullptr;
    std::size_t classes_ = 0, width_ = 0;   // a row of what follows is `width_` numbers, with zeros at its end
    std::vector<double> r_, q_;             // (classes): of pairs, and the matrix of the iteration
    std::vector<double> p_, qp_;            // one row
    std::vector<double> wrong_;             // (classes): how far r can be from svm-predict's
    std::vector<double> q_wrong_;           // (classes): and q
    std::vector<double> q_diagonal_;        // one row
    std::vector<double> squares_;           // one row: twice the squares of a column of wrong_, added up
    std::vector<double> relative_, noise_;  // one row: of p, and of qp
};

}  // namespace fastsvm

// Decision functions that stop early by bounds for blocks of neighbouring support vectors.
#pragma once
#include <cstdint>
#include <vector>

#include "answers/decisions.h"
#include "answers/predictions.h"
#include "exact/rounding.h"
#include "exact/strips.h"
#include "exact/svm_model.h"

namespace fastsvm {

// The idea of Acevedo-Rodriguez et al. (triangle.h), bounds of distances instead of distances, taken about many places:
// `lanes` support vectors of a class that lie close together form a block, inside a box [lo, hi] of its own. A row z
// has
//
//     near = sum_j max(0, lo_j - z_j, z_j - hi_j)^2  <=  |z - x|^2  <=  sum_j max(|z_j - lo_j|, |z_j - hi_j|)^2 = far
//
// for all of its vectors, so that it adds between k(far) P - k(near) N and k(near) P - k(far) N to a decision function,
// P and N being the sums of its positive and negative coefficients. A row looks at all boxes once. With one decision
// function it then evaluates blocks, the least certain first, until its answer is settled. With several classes it
// takes the class w of the nearest boxes, evaluates all of its vectors, and of each other class c as many blocks as
// prove that w wins its pair with c: a class that wins all its pairs is svm-predict's answer, whatever the other pairs
// say. Kernels: rbf and exponential.
class Blocks {
public:
    // order: every support vector once, class by class; each `lanes` of them within a class are a block. Throws
    // std::invalid_argument where it is no such order.
    Blocks(SvmModel model, const std::vector<std::int64_t>& order);

    // Each row is left as soon as its answer is settled, which is looked at after every block; pairs that nothing was
    // needed of have an infinite radius. Returns the rows that are not settled, increasing.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance,
                                              Decisions& out) const;
    std::int64_t pairs() const { return pairs_; }

private:
    struct Layout {
        std::vector<std::int64_t> order;        // (padded): support vectors, -1 for padding
        std::vector<std::int64_t> class_start;  // (classes + 1): the first block of each class
        std::vector<std::int64_t> size;         // (blocks): how many vectors each has
    };
    struct Row;
    static Layout lay_out(const SvmModel& model, const std::vector<std::int64_t>& order);
    void look(const Rows& rows, std::int64_t row, Row& out) const;
    void evaluate(Row& row, std::int64_t block) const;
    bool settle_one(Row& row, Settled& settled, double* value, double* radius) const;
    bool settle_classes(Row& row, double* value, double* radius) const;
    std::int64_t loses_to(Row& row, std::int64_t winner, double* value, double* radius) const;

    SvmModel model_;
    std::int64_t pairs_, blocks_, padded_;
    Layout layout_;
    Strips strips_;  // the vectors in order
    Rounding rounding_;
    std::vector<double> boxes_;                // (groups, d, 2, lanes): lo and hi of `lanes` blocks
    std::vector<double> coef_;                 // (nr_class - 1, padded)
    std::vector<double> positive_, negative_;  // (nr_class - 1, blocks): P and N, rounded up
    double pair_weight_ = 0;                   // the largest sum of P + N of a pair
};

}  // namespace fastsvm

// Decision functions that stop early, by the triangle inequality for one block of neighbouring support vectors at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "decisions.h"
#include "machine.h"
#include "predictions.h"
#include "rounding.h"
#include "strips.h"

namespace fastsvm {

// The inequality of Acevedo-Rodriguez et al. (triangle.h), taken about many centers: the support vectors of a class that lie close together form a block
// of one strip; all of them are within its radius r of its center m, so that a row at the distance D = |z - m| has max(0, D - r) <= |z - x| <= D + r, and
// the block adds between
//
//     k(D + r) P - k(max(0, D - r)) N   and   k(max(0, D - r)) P - k(D + r) N,
//
// P and N being the sums of its positive and negative coefficients. A row begins with these bounds of all blocks, one distance each, and evaluates blocks,
// the least certain first, until its answer is settled. Kernels: rbf and exponential.
class Blocks {
public:
    // order: every support vector once, class by class; each `strip` of them within a class are a block.
    Blocks(Machine machine, const std::vector<std::int64_t>& order);

    // Each row is left as soon as its answer is settled. Returns the rows that are not settled, increasing: rounding alone leaves them open.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance, Decisions& out) const;

private:
    struct Scratch;
    bool settle(const Rows& rows, std::int64_t row, Settled& settled, Scratch& scratch, double* value, double* radius) const;

    Machine machine_;
    std::int64_t pairs_, blocks_ = 0;
    std::vector<std::int64_t> order_;       // (padded): support vectors, -1 for padding
    std::vector<std::int32_t> class_of_;    // (blocks)
    std::vector<std::int64_t> size_;        // (blocks): support vectors
    std::vector<std::int64_t> centers_;     // (blocks): the support vector in the middle
    std::vector<double> radius_;            // (blocks), rounded up
    std::vector<double> coef_;              // (nr_class - 1, padded)
    std::vector<double> positive_, negative_;  // (blocks, nr_class - 1): P and N, rounded up
    std::vector<double> weight_;            // (blocks): the largest P + N over the columns
    std::vector<double> pair_weight_;       // (pairs): sum of all P + N
    std::vector<Strips> strips_, heads_;    // one each: the vectors in order; the centers
    std::vector<Rounding> rounding_;        // one
};

}  // namespace fastsvm

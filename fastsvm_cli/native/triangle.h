// Decision functions that stop early by the triangle inequality (Acevedo-Rodriguez, Maldonado-Bascon, Lafuente-Arroyo, Siegmann, Lopez-Ferreras,
// "Computational load reduction in decision functions using support vector machines").
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "decisions.h"
#include "machine.h"
#include "predictions.h"
#include "rounding.h"
#include "strips.h"

namespace fastsvm {

// Per pivot the support vectors in the order of their distance from it. A row takes the list of the nearest pivot, and adds up kernel values from
// its head; what is left lies between bounds that the distances give (eqs. 10, 11; for the exponential kernel 16, 17 too), so that
//
//     f(z) = f_n(z) + (rest_low + rest_high) / 2  +-  (rest_high - rest_low) / 2.
//
// Kernels: rbf and exponential.
class Triangle {
public:
    // pivots: support vectors.
    Triangle(Machine machine, std::vector<std::int64_t> pivots);
    Triangle(const Triangle&) = delete;

    // Rows are done a strip of support vectors at a time and left as soon as their answer is settled, or the list is at its end. Returns the rows
    // that are not settled, increasing: rounding alone leaves them open.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance, Decisions& out) const;
    std::int64_t pairs() const { return pairs_; }

private:
    // Where a list stands after so many strips: what is left of it.
    struct Rest {
        double nearest_low, nearest_high;  // the distance of its first vector from the pivot; 0 at the end
        double farthest_high;              // of its last
    };
    struct List {
        std::unique_ptr<Strips> strips;
        std::vector<Rest> rest;             // (strips + 1)
        std::vector<double> positive, negative;  // (strips + 1, pairs): the sums of the coefficients left, |negative|; upper bounds
        std::vector<double> weighted_positive, weighted_negative;  // exponential: of the coefficients times exp(-gamma distance from the pivot)
        std::vector<std::int32_t> class_of;  // (padded)
        std::vector<double> coef;            // (padded, nr_class - 1)
        std::once_flag once;
    };
    struct Visit;
    void lay_out(std::size_t list) const;
    void add(const List& list, std::int64_t at, const double* kernel_values, double* sum) const;
    void bound(const List& list, std::int64_t strips_done, const Visit& visit, const double* sum, double* value, double* radius) const;

    Machine machine_;
    std::int64_t pairs_;
    std::vector<std::int64_t> pivots_;
    std::vector<std::int32_t> class_of_;  // per support vector
    Strips heads_;                        // the pivots
    Rounding rounding_;
    mutable std::vector<std::unique_ptr<List>> lists_;  // laid out when a row first needs them
};

}  // namespace fastsvm

// Support vectors in the order of their distance from a pivot, and bounds of what is left of sums over them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact/svm_model.h"

namespace fastsvm {

// Of an rbf or an exponential kernel. B17, B18 and B20 of bounds.py have the argument; equations are those of
// Acevedo-Rodriguez et al. (triangle.h).
struct PivotList {
    // Where the list stands at a stop: what is left of it.
    struct Rest {
        double nearest_low, nearest_high;  // the distance of its first vector from the pivot; 0 at the end
        double farthest_high;              // of its last
    };
    // Bounds of the kernel values of the vectors left with one row; shrink and grow: of exp(-+gamma |z - pivot|), for
    // the exponential kernel.
    struct KernelBounds {
        double smallest, largest, shrink, grow;
    };
    // What is left of one pair's sum lies between low and high; positive, negative: what terms of either sign come to
    // at most.
    struct Left {
        double low, high, positive, negative;
    };

    // members: the support vectors of the list. class_of: of every support vector. stops: numbers of vectors, from 0 to
    // all of the list.
    PivotList(const SvmModel& model, std::int64_t pivot, std::vector<std::int64_t> members,
              const std::vector<std::int32_t>& class_of, const std::vector<std::int64_t>& stops);
    // Of a row that is between `low` and `high` away from the pivot, at a stop (by its place among the stops).
    KernelBounds kernel_bounds(std::size_t stop, double low, double high) const;
    Left left(std::size_t stop, std::size_t pair, const KernelBounds& kernels) const;

    Kernel kernel;
    std::size_t pairs;
    std::vector<std::int64_t> order;  // (n) support vectors
    std::vector<Rest> rest;           // (stops)
    // (stops, pairs): upper bounds of the sums of the positive coefficients left, and of the absolute values of the
    // negative ones.
    std::vector<double> positive, negative;
    // The same of the coefficients times exp(-gamma distance from the pivot); of the exponential kernel.
    std::vector<double> weighted_positive, weighted_negative;
    double weighted_certain = 1;  // times these, they are lower bounds
};

}  // namespace fastsvm

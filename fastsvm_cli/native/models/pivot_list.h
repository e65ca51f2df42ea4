// Support vectors by distance from a pivot, and bounds on the rest of their sums.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact/svm_model.h"

namespace fastsvm {

// For rbf and exponential kernels. Proof: B17, B18 and B20 of bounds.py; equations of Acevedo-Rodriguez et al.
// (triangle.h).
struct PivotList {
    // State of the list at a stop: the vectors left.
    struct Rest {
        double nearest_low, nearest_high;  // pivot distance of the first vector left; 0 at the end
        double farthest_high;              // of the last one
    };
    // Bounds of one row's kernel values with the vectors left; shrink and grow: of exp(-+gamma |z - pivot|),
    // exponential kernel.
    struct KernelBounds {
        double smallest, largest, shrink, grow;
    };
    // A pair's rest is in [low, high]; positive, negative: most that terms of either sign add.
    struct Left {
        double low, high, positive, negative;
    };

    // members: the list's support vectors. class_of: of every support vector. stops: numbers of vectors, 0 to all.
    PivotList(const SvmModel& model, std::int64_t pivot, std::vector<std::int64_t> members,
              const std::vector<std::int32_t>& class_of, const std::vector<std::int64_t>& stops);
    // Row at a distance in [low, high] from the pivot, at a stop (an index).
    KernelBounds kernel_bounds(std::size_t stop, double low, double high) const;
    Left left(std::size_t stop, std::size_t pair, const KernelBounds& kernels) const;

    Kernel kernel;
    std::size_t pairs;
    std::vector<std::int64_t> order;  // (n) support vectors
    std::vector<Rest> rest;           // (stops)
    // (stops, pairs): upper bounds of the sums of positive coefficients left, and of sizes of negative ones.
    std::vector<double> positive, negative;
    // The same, times exp(-gamma distance from the pivot); exponential kernel.
    std::vector<double> weighted_positive, weighted_negative;
    double weighted_certain = 1;  // factor that turns these into lower bounds
};

}  // namespace fastsvm

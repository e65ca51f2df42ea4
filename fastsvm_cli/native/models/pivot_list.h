// The list of a triangle model's pivot: its support vectors by distance, and bounds on sums over the rest of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact/reference/svm_model.h"

namespace fastsvm {

// Support vectors by distance from a pivot, and bounds on the rest of their sums, for RBF and exponential kernels (B17,
// B18 and B20 of PROOFS.md; equations of Acevedo-Rodriguez et al., see triangle.h).
struct PivotList {
    // The vectors left at a stop.
    struct Rest {
        double nearest_low, nearest_high;  // pivot distance of the first one; 0 at the end
        double farthest_high;              // of the last one
    };
    // Bounds of one row's kernel values with the vectors left. shrink, grow: bounds of exp(-+gamma |z - pivot|), for
    // the exponential kernel.
    struct KernelBounds {
        double smallest, largest, shrink, grow;
    };
    // A pair's rest is in [low, high]; positive, negative: most that terms of either sign add.
    struct Left {
        double low, high, positive, negative;
    };

    // members: support vectors of the list. class_of: of each support vector. stops: numbers of vectors, 0 to all.
    PivotList(const SvmModel& model, std::int64_t pivot, std::vector<std::int64_t> members,
              const std::vector<std::int32_t>& class_of, const std::vector<std::int64_t>& stops);
    // Bounds for a row at a distance in [low, high] from the pivot. stop: an index.
    KernelBounds kernel_bounds(std::size_t stop, double low, double high) const;
    Left left(std::size_t stop, std::size_t pair, const KernelBounds& kernels) const;

    Kernel kernel;
    std::size_t pairs;
    std::vector<std::int64_t> order;  // support vectors
    std::vector<Rest> rest;           // (stops)
    // (stops, pairs): upper bounds of the sums of positive coefficients left, and of sizes of negative ones.
    std::vector<double> positive, negative;
    // The same, times exp(-gamma distance from the pivot); exponential kernel.
    std::vector<double> weighted_positive, weighted_negative;
    double certain = 1, weighted_certain = 1;  // factors that make lower bounds of these and the former (B20)
};

}  // namespace fastsvm

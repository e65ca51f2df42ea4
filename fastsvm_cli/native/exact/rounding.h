// What rounding can put between a decision value computed here and svm-predict's.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "exact/svm_model.h"

namespace fastsvm {

constexpr double unit = 1.1102230246251565e-16;  // 2^-53

// The length of n numbers from the computed sum of their squares, rounded up; squares below the smallest double may be
// missing.
double length(double squares, std::int64_t n);

class Rounding {
public:
    // distances_by_differences: of the exponential kernel's. folded: a linear kernel's vectors are summed up first.
    Rounding(const SvmModel& model, bool distances_by_differences, bool folded);

    // Kernel values with these vectors too are covered from here on.
    void cover(const Rows& vectors);

    // One row's share. kernel: how far any kernel value, ours from svm-predict's, divided by `scale`; infinite where
    // nothing can be said.
    struct Row {
        double kernel, scale;
    };
    // precise: the values themselves are used, not only their side of zero: for RBF they are within 1e-9 sum |coef| of
    // svm-predict's.
    Row row(const Rows& rows, std::int64_t row, bool precise) const;
    // Of a kernel value with one of the vectors: ours from svm-predict's, or from the exact one.
    double kernel_error(const Row& row) const {
        return row.kernel * row.scale * (kernel_.type == KernelType::linear ? largest_norm_ : 1.0);
    }
    // Of |x - z|^2 with one of the vectors, as the strips compute it.
    double squared_distance_error(const Rows& rows, std::int64_t row) const;
    // Of a decision value, whatever the order of our sum.
    double radius(std::int64_t pair, const Row& row, double value) const {
        return radius(pair_weight_[pair], pair_count_[pair], rho_[pair], row, value);
    }
    // At least that of any pair with this value.
    double radius_of_any(const Row& row, double value) const {
        return radius(largest_weight_, largest_pair_count_, largest_rho_, row, value);
    }

private:
    static double radius(double weight, std::int64_t count, double rho, const Row& row, double value) {
        const double infinite = std::numeric_limits<double>::infinity();
        // Beyond, svm-predict's sum may overflow on the way where ours does not.
        if (!(row.kernel < infinite) || !(weight * row.scale < 1e300)) return infinite;
        // Denormal products, and K below e^-708 taken for 0, are far below the last term.
        return weight * (row.kernel + 2.1 * unit * static_cast<double>(count + 6)) * row.scale +
               3 * unit * (std::fabs(value) + std::fabs(rho)) + 1e-200;
    }

    Kernel kernel_;
    bool by_differences_, folded_;
    double features_;
    double largest_norm_ = 0;   // largest |x_i|
    double largest_count_ = 0;  // most entries in a support vector
    std::vector<double> rho_;
    std::vector<double> pair_weight_;              // per pair: sum |coef|, for linear kernels sum |coef| |x|
    std::vector<std::int64_t> pair_count_;         // per pair: its support vectors
    double largest_weight_ = 0, largest_rho_ = 0;  // over the pairs
    std::int64_t largest_pair_count_ = 0;
};

}  // namespace fastsvm

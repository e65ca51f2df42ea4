// What rounding can put between a decision value computed here and svm-predict's. The statements B1, B2, ... stand in
// bounds.py.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "answers/decisions.h"
#include "exact/svm_model.h"

namespace fastsvm {

constexpr double unit = 1.1102230246251565e-16;  // 2^-53

// The length of n numbers from the computed sum of their squares, rounded up; squares below the smallest double may be
// missing.
double length(double squares, double n);

// How far a kernel value of svm-predict's is from K itself: kernel * scale, with any support vector; infinite where
// nothing can be said.
struct KernelRounding {
    double kernel = 0, scale = 1;
};

// B5, the kernel's part. q: the row's entries; s: most entries in a support vector; z: |z|; x: the largest |x_i|. A
// linear kernel's scale is |z|: it is to be multiplied by sum |a_i| |x_i|.
KernelRounding svm_predict_kernel_rounding(const Kernel& kernel, double q, double s, double z, double x);

// B5: how far svm-predict's decision value is from the one of exact arithmetic. weight: sum |a_i| over the `count`
// support vectors of the pair, for linear kernels sum |a_i| |x_i|.
inline double svm_predict_rounding(const KernelRounding& of_kernel, double weight, double count, double rho) {
    return weight * (of_kernel.kernel + (1.01 * (count + 6) + 4) * unit) * of_kernel.scale + 2 * unit * std::fabs(rho);
}

// What a decision function of an RBF model is known by where the model itself is not at hand, for B5.
struct Origin {
    double gamma = 0;
    std::vector<double> radius;  // (pairs): how far exact arithmetic can be from ours
    std::vector<double> weight;  // (pairs): sum |a_i|
    std::vector<double> rho;     // (pairs), to within `radius`
    double count = 0;            // support vectors
    double longest_vector = 0;   // most entries in one
};

// Adds to the radii of a chunk's values, which are about one model's exact arithmetic, what leads to svm-predict's
// values of another.
void widen(const Rows& rows, const Origin& origin, Decisions& out);

// What the terms of one row's sum add up to, as computed, run by run of terms of one sign.
struct RowSize {
    double terms = 0;     // their sizes
    double partials = 0;  // at least the sizes of all partial sums
    // A run of `count` terms that moves the sum from `before` by `sum`.
    void add(std::int64_t count, double before, double sum) {
        terms += std::fabs(sum);
        partials += static_cast<double>(count) * std::fmax(std::fabs(before), std::fabs(before + sum));
    }
};

class Rounding {
public:
    // distances_by_differences: of the exponential kernel's. folded: a linear kernel's vectors are summed up first.
    Rounding(const SvmModel& model, bool distances_by_differences, bool folded);

    // Kernel values with these vectors too are covered from here on.
    void cover(const Rows& vectors);

    // One row's share: svm-predict's of B5, and how far any kernel value of ours is from K, divided by the same scale.
    struct Row {
        KernelRounding svm_predict;
        double ours = 0;
        // Ours from svm-predict's, divided by the scale; infinite where nothing can be said.
        double kernel() const { return svm_predict.kernel + ours; }
    };
    // precise: the values themselves are used, not only their side of zero: they are within 1e-9 of svm-predict's, as a
    // share of sum |coef| and the largest a kernel value can be.
    Row row(const Rows& rows, std::int64_t row, bool precise) const;
    // svm-predict's part alone, of one row; kernel infinite where nothing can be said.
    KernelRounding svm_predict(const Rows& rows, std::int64_t row) const;
    // B5, of a decision value of such a row; and at least that of any pair.
    double svm_predict(std::int64_t pair, const KernelRounding& row) const {
        return svm_predict_rounding(row, pair_weight_[pair], static_cast<double>(pair_count_[pair]), rho_[pair]);
    }
    double svm_predict_of_any(const KernelRounding& row) const {
        return svm_predict_rounding(row, largest_weight_, static_cast<double>(largest_pair_count_), largest_rho_);
    }
    // Of a kernel value with one of the vectors: ours from svm-predict's, or from the exact one.
    double kernel_error(const Row& row) const {
        return row.kernel() * row.svm_predict.scale * (kernel_.type == KernelType::linear ? largest_norm_ : 1.0);
    }
    // Of |x - z|^2 with one of the vectors, as the strips compute it.
    double squared_distance_error(const Rows& rows, std::int64_t row) const;
    // Of a decision value, whatever the order of our sum.
    double radius(std::int64_t pair, const Row& row, double value) const {
        return radius(pair_weight_[pair], pair_count_[pair], rho_[pair], row, value);
    }
    // Of the value of an RBF model's pair whose classes have coefficients of one sign each, by what the row's own terms
    // add up to (B37); infinite where nothing is stated.
    double radius_by_size(std::int64_t pair, const Row& row, double value, const RowSize& size) const;
    // At least that of any pair with this value.
    double radius_of_any(const Row& row, double value) const {
        return radius(largest_weight_, largest_pair_count_, largest_rho_, row, value);
    }

private:
    static double radius(double weight, std::int64_t count, double rho, const Row& row, double value) {
        const double infinite = std::numeric_limits<double>::infinity();
        // Beyond, svm-predict's sum may overflow on the way where ours does not.
        if (!(row.kernel() < infinite) || !(weight * row.svm_predict.scale < 1e300)) return infinite;
        const double n = static_cast<double>(count);
        // Our sum: (n + 2) u, and the subtraction of rho. Denormal products, and K below e^-708 taken for 0, are far
        // below the last term (B7).
        return svm_predict_rounding(row.svm_predict, weight, n, rho) +
               weight * (row.ours + (1.09 * n + 2.54) * unit) * row.svm_predict.scale +
               unit * (3 * std::fabs(value) + std::fabs(rho)) + 1e-200;
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

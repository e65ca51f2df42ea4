// Bounds of rounding.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "answers/predictions.h"
#include "exact/reference/reference.h"

namespace fastsvm {

constexpr double unit = 0x1p-53, single_unit = 0x1p-24;  // in double and in single precision
constexpr double up = 1 + 1e-9;  // covers the rounding of a radius or a norm: far fewer than 1e6 operations
constexpr double infinite = std::numeric_limits<double>::infinity();

// Rounding bounds against svm-predict's decision values. B1, B2, ... are in PROOFS.md.

// Length of n numbers, rounded up, from the computed sum of their squares; squares may have underflowed.
double length(double squares, double n);

// |svm-predict's kernel value - K| <= kernel * scale for any support vector; infinite if unbounded.
struct KernelRounding {
    double kernel = 0, scale = 1;
};

// The kernel's part of B5. q: entries of the row; s: most entries of a support vector; z: |z|; x: largest |x_i|. A
// linear kernel's scale is |z|, to be multiplied by sum |a_i| |x_i|.
KernelRounding svm_predict_kernel_rounding(const Kernel& kernel, double q, double s, double z, double x);

// B5, for a decision value. weight: sum |a_i| over the pair's `count` support vectors; for linear kernels sum |a_i|
// |x_i|.
inline double svm_predict_rounding(const KernelRounding& of_kernel, double weight, double count, double rho) {
    return weight * (of_kernel.kernel + (1.01 * (count + 6) + 4) * unit) * of_kernel.scale + 2 * unit * std::fabs(rho);
}

// The numbers of an RBF model that B5 needs, without the model.
struct Origin {
    double gamma = 0;
    std::vector<double> radius;  // (pairs): error of our value against exact arithmetic
    std::vector<double> weight;  // (pairs): sum |a_i|
    std::vector<double> rho;     // (pairs), to within `radius`
    double count = 0;            // number of support vectors
    double longest_vector = 0;   // most entries of one of them
};

// Widens radii about one model's exact arithmetic, to cover svm-predict's values of another.
void widen(const Rows& rows, const Origin& origin, Decisions& out);

// Computed totals of a row's terms, over runs of one sign.
struct RowSize {
    double terms = 0;     // sum of sizes
    double partials = 0;  // at least the sum of the sizes of partial sums
    // Adds `count` terms that move the sum from `before` by `sum`.
    void add(std::int64_t count, double before, double sum) {
        terms += std::fabs(sum);
        partials += static_cast<double>(count) * std::fmax(std::fabs(before), std::fabs(before + sum));
    }
};

// Bounds the rounding of a model's kernel values and decision values, row by row.
class Rounding {
public:
    // distances_by_differences: exponential kernel. folded: a linear kernel's vectors are summed first.
    Rounding(const SvmModel& model, bool distances_by_differences, bool folded);

    // Makes the bounds cover kernel values with these vectors too.
    void cover(const Rows& vectors);

    // svm-predict's part of B5, and the distance of our kernel values from K, divided by the same scale.
    struct Row {
        KernelRounding svm_predict;
        double ours = 0;
        // Distance of our kernel value from svm-predict's, divided by the scale.
        double kernel() const { return svm_predict.kernel + ours; }
    };
    // The bounds of a row. precise: see Exact::decision_values.
    Row row(const Rows& rows, std::int64_t row, bool precise) const;
    // svm-predict's part alone.
    KernelRounding svm_predict(const Rows& rows, std::int64_t row) const;
    // B5 for a decision value of such a row, and at least that of any pair.
    double svm_predict(std::int64_t pair, const KernelRounding& row) const {
        return svm_predict_rounding(row, pair_weight_[pair], static_cast<double>(pair_count_[pair]), rho_[pair]);
    }
    double svm_predict_of_any(const KernelRounding& row) const {
        return svm_predict_rounding(row, largest_weight_, static_cast<double>(largest_pair_count_), largest_rho_);
    }
    // Distance of our kernel value from svm-predict's or the exact one, with any of the vectors.
    double kernel_error(const Row& row) const {
        return row.kernel() * row.svm_predict.scale * (kernel_.type == KernelType::linear ? largest_norm_ : 1.0);
    }
    // Error bound of |x - z|^2 as the panels compute it, with any of the vectors.
    double squared_distance_error(const Rows& rows, std::int64_t row) const;
    // Radius of a decision value, for any order of our sum.
    double radius(std::int64_t pair, const Row& row, double value) const {
        return radius(pair_weight_[pair], pair_count_[pair], rho_[pair], row, value);
    }
    // Radius from the row's own totals, for RBF pairs whose classes have coefficients of one sign each; infinite if B37
    // does not apply.
    double radius_by_size(std::int64_t pair, const Row& row, double value, const RowSize& size) const;
    // At least the radius of any pair with this value.
    double radius_of_any(const Row& row, double value) const {
        return radius(largest_weight_, largest_pair_count_, largest_rho_, row, value);
    }

private:
    static double radius(double weight, std::int64_t count, double rho, const Row& row, double value) {
        // Beyond this, svm-predict's sum may overflow where ours does not.
        if (!(row.kernel() < infinite) || !(weight * row.svm_predict.scale < 1e300)) return infinite;
        const double n = static_cast<double>(count);
        // Our sum: (n + 2) u, and the subtraction of rho. The last term covers denormal products, and K below e^-708
        // taken as 0 (B7).
        return svm_predict_rounding(row.svm_predict, weight, n, rho) +
               weight * (row.ours + (1.09 * n + 2.54) * unit) * row.svm_predict.scale +
               unit * (3 * std::fabs(value) + std::fabs(rho)) + 1e-200;
    }

    Kernel kernel_;
    bool by_differences_, folded_;
    double features_;
    double largest_norm_ = 0;
    double largest_count_ = 0;  // most entries of a support vector
    std::vector<double> rho_;
    std::vector<double> pair_weight_;              // sum |coef|, for linear kernels sum |coef| |x|
    std::vector<std::int64_t> pair_count_;         // of support vectors
    double largest_weight_ = 0, largest_rho_ = 0;  // over the pairs
    std::int64_t largest_pair_count_ = 0;
};

}  // namespace fastsvm

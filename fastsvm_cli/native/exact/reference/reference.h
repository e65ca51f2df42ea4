// Kernels, LIBSVM's models, and their reference sums: svm-predict's decision values, bit for bit.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "answers/predictions.h"
#include "text/rows.h"

namespace fastsvm {

// LIBSVM's kernels, in its order, then two that LIBSVM trains as precomputed kernels only: exponential K = exp(-gamma
// |x - z|); normalized polynomial K = k(x, z) / sqrt(k(x, x) k(z, z)), k = (gamma x.z + coef0)^degree.
enum class KernelType { linear, polynomial, rbf, sigmoid, precomputed, exponential, normalized_polynomial };

// Names in model files, in the same order.
inline constexpr std::array kernel_names{"linear",      "polynomial",           "rbf", "sigmoid", "precomputed",
                                         "exponential", "normalized_polynomial"};
inline constexpr std::size_t libsvm_kernels = 5;

struct Kernel {
    KernelType type = KernelType::rbf;
    double gamma = 0, coef0 = 0;
    int degree = 0;

    // Whether K depends on |x - z|; otherwise on x.z (normalized kernels also on k(x, x), k(z, z)).
    bool of_distances() const { return type == KernelType::rbf || type == KernelType::exponential; }
    bool normalized() const { return type == KernelType::normalized_polynomial; }
    // Whether K(x, z) = <phi(x), phi(z)> for some features phi.
    bool semidefinite() const {
        if (type == KernelType::polynomial || normalized()) return gamma >= 0 && coef0 >= 0;
        return type == KernelType::linear || (of_distances() && gamma >= 0);
    }
    // Whether distances are sums of squared differences, which keep all digits; the root of |x|^2 + |z|^2 - 2 x.z would
    // halve the digits left of a small distance.
    bool by_differences() const { return type == KernelType::exponential; }
    // K(z, z), from |z|^2.
    double self(double squared_norm) const;
    // k(z, z) of a normalized kernel.
    double before_normalization(double squared_norm) const;
};

// K(x, z) as in LIBSVM 3.37; the last two kernels as in scripts/precompute_kernel.py.
double reference_kernel(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z, std::int64_t j);

// |x_i - z_j|^2, as a sum of squared differences.
double reference_squared_distance(const Rows& x, std::int64_t i, const Rows& z, std::int64_t j);

// Turns |x - z|^2 or x.z into kernel values. values: (vectors, width), width a multiple of `reference_lanes`; only
// `count` per vector are needed. Not for precomputed or normalized kernels.
void reference_kernel_from(const Kernel& kernel, std::int64_t vectors, std::int64_t width, std::int64_t count,
                           double* values);

// Fast K(x, z_s), within the bounds of rounding.cpp, from n inner products in `values`. squared_norm(s): |x|^2 and
// |z_s|^2, for RBF. inverse_root(s): 1 / sqrt(k(x, x)) and 1 / sqrt(k(z_s, z_s)), if normalized. Not for kernels by
// differences; linear and precomputed values stay.
void kernel_from_dots(const Kernel& kernel, std::int64_t n, double squared_norm, const double* squared_norms,
                      double inverse_root, const double* inverse_roots, double* values);

// The same from n squared distances, for a kernel of distances.
void kernel_from_squared_distances(const Kernel& kernel, std::int64_t n, double* values);

// The pair of two classes of so many, in either order.
inline std::int64_t pair_of(std::int64_t classes, std::int64_t i, std::int64_t j) {
    const std::int64_t first = i < j ? i : j, second = i < j ? j : i;
    return first * classes - first * (first + 1) / 2 + (second - first - 1);
}

// SvmModel: the numbers of a LIBSVM model that its decision values depend on.

// Support vectors are class by class. Pairs are in LIBSVM's order.
struct SvmModel {
    Kernel kernel;
    bool regression = false;
    std::vector<std::int64_t> nr_sv;      // per class; one entry for one-class and regression models
    std::vector<double> rho;              // (pairs)
    std::shared_ptr<const Rows> vectors;  // with coefficients, (total_sv, nr_class - 1), as `leading`

    std::int64_t total_sv() const { return vectors->rows; }
    std::int64_t pairs() const { return static_cast<std::int64_t>(rho.size()); }
    std::int64_t classes() const { return static_cast<std::int64_t>(nr_sv.size()); }
};

// Calls visit(pair, column) for every pair of class c, whose coefficients are in that column.
template <class Visit> void for_each_pair(const SvmModel& model, std::int64_t c, Visit visit) {
    if (model.classes() == 1 && model.pairs()) visit(0, 0);
    for (std::int64_t other = 0; other < model.classes(); ++other)
        if (other != c) visit(pair_of(model.classes(), c, other), other > c ? other - 1 : other);
}

// The reference sum: svm-predict's own decision values, bit for bit.

// The reference sum: svm_predict_values of LIBSVM 3.37 on x86-64 without OpenMP, bit for bit: serial sums, sparse
// merge, powi, exp and tanh of this process's C library, no contraction. which: row numbers. out: (count, pairs).
void reference_sums(const SvmModel& model, const Rows& rows, const std::int64_t* which, std::int64_t count,
                    double* out);

// Reference sums of one row from its kernel values, in the order of the vectors; class c's begin at values + start[c].
// out: (pairs).
void reference_terms(const SvmModel& model, const double* values, const std::int64_t* start, double* out);

// Writes the reference sums of all rows, on all threads; radii are 0.
void reference_sums(const SvmModel& model, const Rows& rows, Decisions& out);

}  // namespace fastsvm

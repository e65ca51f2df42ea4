// Kernel functions: their kinds, LIBSVM's own values (reference_...), and fast ones. A new kernel also needs changes in
// rounding.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

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

// Reference kernel values of row i of x with every row of z.
std::vector<double> reference_kernel_row(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z);

// |x_i - z_j|^2, as a sum of squared differences.
double reference_squared_distance(const Rows& x, std::int64_t i, const Rows& z, std::int64_t j);

// Inputs of reference_kernel for row i of x and the first n rows of z: |x - z|^2 or x.z. Not for precomputed or
// normalized kernels.
void reference_beginnings(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z, std::int64_t n,
                          double* values);

// Turns values of reference_beginnings into kernel values. values: (vectors, width), width a multiple of
// `reference_lanes`; only `count` per vector are needed.
void reference_kernel_from(const Kernel& kernel, std::int64_t vectors, std::int64_t width, std::int64_t count,
                           double* values);

// Fast K(x, z_s), within the bounds of rounding.cpp, from n inner products in `values`. squared_norm(s): |x|^2 and
// |z_s|^2, for RBF. inverse_root(s): 1 / sqrt(k(x, x)) and 1 / sqrt(k(z_s, z_s)), if normalized. Not for kernels by
// differences; linear and precomputed values stay.
void kernel_from_dots(const Kernel& kernel, std::int64_t n, double squared_norm, const double* squared_norms,
                      double inverse_root, const double* inverse_roots, double* values);

// The same from n squared distances, for a kernel of distances.
void kernel_from_squared_distances(const Kernel& kernel, std::int64_t n, double* values);

}  // namespace fastsvm

// The kernels K(x, z): names and values. A new one also needs rounding.cpp and models/kernel.py.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

// LIBSVM's, in its order; then those it trains as precomputed kernels only, evaluated here on the vectors: exponential
// K = exp(-gamma |x - z|); normalized polynomial K = k(x, z) / sqrt(k(x, x) k(z, z)), k = (gamma x.z + coef0)^degree.
enum class KernelType { linear, polynomial, rbf, sigmoid, precomputed, exponential, normalized_polynomial };

// Names in model files, in that order.
inline constexpr std::array kernel_names{"linear",      "polynomial",           "rbf", "sigmoid", "precomputed",
                                         "exponential", "normalized_polynomial"};
inline constexpr std::size_t libsvm_kernels = 5;  // the first ones are LIBSVM's

struct Kernel {
    KernelType type = KernelType::rbf;
    double gamma = 0, coef0 = 0;
    int degree = 0;

    // Whether values follow from |x - z|; otherwise from x.z, and k(x, x), k(z, z) if normalized.
    bool of_distances() const { return type == KernelType::rbf || type == KernelType::exponential; }
    bool normalized() const { return type == KernelType::normalized_polynomial; }
    // Positive semidefinite: K(x, z) = <phi(x), phi(z)> for some features phi.
    bool semidefinite() const {
        if (type == KernelType::polynomial || normalized()) return gamma >= 0 && coef0 >= 0;
        return type == KernelType::linear || (of_distances() && gamma >= 0);
    }
    // Uses sums of squared differences, which keep all digits: the root of |x - z|^2 would halve those that |x|^2 +
    // |z|^2 - 2 x.z leaves of a small distance.
    bool by_differences() const { return type == KernelType::exponential; }
    // K(z, z), from |z|^2.
    double self(double squared_norm) const;
    // k(z, z) of a normalized kernel, from |z|^2.
    double before_normalization(double squared_norm) const;
};

// K(x, z) as in LIBSVM 3.37; the last two kernels as in scripts/precompute_kernel.py.
double reference_kernel(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z, std::int64_t j);

// Row i of x with every row of z.
std::vector<double> reference_kernel_row(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z);

// |x - z|^2 of two rows, as a sum of squared differences.
double reference_squared_distance(const Rows& x, std::int64_t i, const Rows& z, std::int64_t j);

// Inputs of those values, for row i of x and n rows of z from `first` on: |x - z|^2 for a kernel of distances, else
// x.z. Not precomputed or normalized.
void reference_beginnings(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z, std::int64_t first,
                          std::int64_t n, double* values);

// Turns these inputs into kernel values. values: (vectors, width), width a multiple of `reference_lanes`, `count` of
// them needed per vector.
void reference_kernel_from(const Kernel& kernel, std::int64_t vectors, std::int64_t width, std::int64_t count,
                           double* values);

// Fast K(x, z_s), within rounding.cpp's bounds, from n inner products x.z_s. squared_norm(s): |x|^2 and |z_s|^2, rbf
// only; inverse_root(s): 1 / sqrt(k(x, x)) and 1 / sqrt(k(z_s, z_s)), normalized only. Not by differences; linear and
// precomputed values stay.
void kernel_from_dots(const Kernel& kernel, std::int64_t n, double squared_norm, const double* squared_norms,
                      double inverse_root, const double* inverse_roots, double* values);

// From n squared distances, for a kernel of distances.
void kernel_from_squared_distances(const Kernel& kernel, std::int64_t n, double* values);

}  // namespace fastsvm

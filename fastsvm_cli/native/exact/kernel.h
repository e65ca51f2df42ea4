// K(x, z): the kernels, their names, and their values. With its row in rounding.cpp and its name in models/kernel.py, a
// kernel is complete.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

// LIBSVM's, in its order; then those it trains through a precomputed kernel only, evaluated here on the vectors
// themselves: exponential K = exp(-gamma |x - z|); normalized polynomial K = k(x, z) / sqrt(k(x, x) k(z, z)), k =
// (gamma x.z + coef0)^degree.
enum class KernelType { linear, polynomial, rbf, sigmoid, precomputed, exponential, normalized_polynomial };

// As models name them, in the order above.
inline constexpr std::array kernel_names{"linear",      "polynomial",           "rbf", "sigmoid", "precomputed",
                                         "exponential", "normalized_polynomial"};
inline constexpr std::size_t libsvm_kernels = 5;  // the first of them are LIBSVM's

struct Kernel {
    KernelType type = KernelType::rbf;
    double gamma = 0, coef0 = 0;
    int degree = 0;

    // Its values follow from |x - z|; those of the others from x.z, and where they are normalized from k(x, x) and
    // k(z, z) too.
    bool of_distances() const { return type == KernelType::rbf || type == KernelType::exponential; }
    bool normalized() const { return type == KernelType::normalized_polynomial; }
    // Positive semidefinite for any vectors: K(x, z) = <phi(x), phi(z)> for some features phi.
    bool semidefinite() const {
        if (type == KernelType::polynomial || normalized()) return gamma >= 0 && coef0 >= 0;
        return type == KernelType::linear || (of_distances() && gamma >= 0);
    }
    // Takes the root of |x - z|^2, which would halve the digits that |x|^2 + |z|^2 - 2 x.z leaves of a small distance:
    // sums of squared differences keep them all.
    bool by_differences() const { return type == KernelType::exponential; }
    // K(z, z), from |z|^2.
    double self(double squared_norm) const;
    // k(z, z) of a normalized kernel likewise.
    double before_normalization(double squared_norm) const;
};

// K(x, z) of two rows, as LIBSVM 3.37 computes it; for the last two kernels, as scripts/precompute_kernel.py writes it.
double reference_kernel(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z, std::int64_t j);

// Of row i of x with every row of z.
std::vector<double> reference_kernel_row(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z);

// |x - z|^2 of two rows: a sum of squared differences.
double reference_squared_distance(const Rows& x, std::int64_t i, const Rows& z, std::int64_t j);

// What those kernel values begin with, of row i of x and n rows of z from `first` on: |x - z|^2 where the kernel is of
// distances, x.z elsewhere. Neither precomputed nor normalized kernels.
void reference_beginnings(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z, std::int64_t first,
                          std::int64_t n, double* values);

// The kernel values, in place of what they begin with. values: (vectors, width), width a multiple of `reference_lanes`,
// of which the first `count` of each vector are asked for.
void reference_kernel_from(const Kernel& kernel, std::int64_t vectors, std::int64_t width, std::int64_t count,
                           double* values);

// The fast ones, within the bounds of rounding.cpp: K(x, z_s) from n inner products x.z_s. squared_norm, squared_norms:
// |x|^2 and |z_s|^2, of an rbf kernel; inverse_root, inverse_roots: 1 / sqrt(k(x, x)) and 1 / sqrt(k(z_s, z_s)), of a
// normalized kernel. Not for kernels by differences; of linear and precomputed ones nothing is changed.
void kernel_from_dots(const Kernel& kernel, std::int64_t n, double squared_norm, const double* squared_norms,
                      double inverse_root, const double* inverse_roots, double* values);

// From n squared distances, of a kernel of distances.
void kernel_from_squared_distances(const Kernel& kernel, std::int64_t n, double* values);

}  // namespace fastsvm

// The numbers of an exact LIBSVM model.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

// LIBSVM's, in its order; then those it trains through a precomputed kernel only, evaluated here on the vectors
// themselves: exponential K = exp(-gamma |x - z|); normalized polynomial K = k(x, z) / sqrt(k(x, x) k(z, z)), k =
// (gamma x.z + coef0)^degree.
enum class KernelType { linear, polynomial, rbf, sigmoid, precomputed, exponential, normalized_polynomial };

struct Machine {
    KernelType kernel = KernelType::rbf;
    double gamma = 0, coef0 = 0;
    int degree = 0;
    bool regression = false;
    std::vector<std::int64_t> nr_sv;      // per class; one entry for one-class and regression models
    std::vector<double> rho;              // (pairs)
    std::shared_ptr<const Rows> vectors;  // leading: the coefficients, (total_sv, nr_class - 1)

    std::int64_t total_sv() const { return vectors->rows; }
    std::int64_t pairs() const { return static_cast<std::int64_t>(rho.size()); }
    std::int64_t classes() const { return static_cast<std::int64_t>(nr_sv.size()); }
    std::int64_t pair_of(std::int64_t i, std::int64_t j) const { return i * classes() - i * (i + 1) / 2 + (j - i - 1); }
};

// Calls visit(pair, column) for every decision function that the support vectors of class c have a part in: their
// coefficients for it stand in that column.
template <class Visit> void for_each_pair(const Machine& machine, std::int64_t c, Visit visit) {
    if (machine.classes() == 1 && machine.pairs()) visit(0, 0);
    for (std::int64_t other = 0; other < machine.classes(); ++other)
        if (other != c)
            visit(machine.pair_of(c < other ? c : other, c < other ? other : c), other > c ? other - 1 : other);
}

// K(x, z) of two rows, as LIBSVM 3.37 computes it; for the last two kernels, as scripts/precompute_kernel.py writes it.
double reference_kernel(const Machine& machine, const Rows& x, std::int64_t i, const Rows& z, std::int64_t j);

// |x - z|^2 of two rows: a sum of squared differences.
double reference_squared_distance(const Rows& x, std::int64_t i, const Rows& z, std::int64_t j);

// Decision values of `count` rows exactly as svm_predict_values of LIBSVM 3.37 computes them on x86-64 without OpenMP:
// its serial sums, its sparse merge, its powi, libm's exp and tanh, no contraction. Rows are done side by side, each
// with LIBSVM's operations in LIBSVM's order. which: their numbers. out: (count, pairs).
void reference_sums(const Machine& machine, const Rows& rows, const std::int64_t* which, std::int64_t count,
                    double* out);

}  // namespace fastsvm

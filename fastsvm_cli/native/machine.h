// The numbers of an exact LIBSVM model.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "rows.h"

namespace fastsvm {

enum class KernelType { linear, polynomial, rbf, sigmoid, precomputed };  // LIBSVM's order

struct Machine {
    KernelType kernel = KernelType::rbf;
    double gamma = 0, coef0 = 0;
    int degree = 0;
    bool regression = false;
    std::vector<std::int64_t> nr_sv;      // per class; one entry for one-class and regression models
    std::vector<double> rho;              // (pairs)
    std::shared_ptr<const Rows> vectors;  // labels hold the coefficients, (total_sv, nr_class - 1)

    std::int64_t total_sv() const { return vectors->rows; }
    std::int64_t pairs() const { return static_cast<std::int64_t>(rho.size()); }
    std::int64_t classes() const { return static_cast<std::int64_t>(nr_sv.size()); }
};

// Decision values of one row exactly as svm_predict_values of LIBSVM 3.37 computes them on x86-64 without OpenMP: its serial sums,
// its sparse merge, its powi, libm's exp and tanh, no contraction. kernel_values: scratch, (total_sv). out: (pairs).
void reference_sum(const Machine& machine, const Rows& rows, std::int64_t row, double* kernel_values, double* out);

}  // namespace fastsvm

// The reference sum: svm-predict's own numbers, bit for bit.
#pragma once
#include <cstdint>

#include "answers/decisions.h"
#include "exact/svm_model.h"

namespace fastsvm {

// Exactly svm_predict_values of LIBSVM 3.37 on x86-64 without OpenMP: serial sums, sparse merge, powi, exp and tanh of
// this process's C library, no contraction. Rows run side by side, each with LIBSVM's operations in its order. which:
// row numbers. out: (count, pairs).
void reference_sums(const SvmModel& model, const Rows& rows, const std::int64_t* which, std::int64_t count,
                    double* out);

// A class, and the index of its first vector in the model.
struct ClassPlace {
    std::int64_t number, first;
};

// The same decision value for one row and one pair of classes, i before j.
double reference_sum(const SvmModel& model, const Rows& rows, std::int64_t row, ClassPlace i, ClassPlace j);

// All rows, on all threads: values, and radii of 0.
void reference_sums(const SvmModel& model, const Rows& rows, Decisions& out);

}  // namespace fastsvm

// The reference sum: svm-predict's own numbers, bit for bit.
#pragma once
#include <cstdint>

#include "answers/decisions.h"
#include "exact/svm_model.h"

namespace fastsvm {

// Decision values of `count` rows exactly as svm_predict_values of LIBSVM 3.37 computes them on x86-64 without OpenMP:
// its serial sums, its sparse merge, its powi, the exp and tanh of this process's C library, no contraction. Rows are
// done side by side, each with LIBSVM's operations in LIBSVM's order. which: their numbers. out: (count, pairs).
void reference_sums(const SvmModel& model, const Rows& rows, const std::int64_t* which, std::int64_t count,
                    double* out);

// One class, and its first vector's place among the model's.
struct ClassPlace {
    std::int64_t number, first;
};

// The decision value of one row and one pair of classes, i before j, likewise.
double reference_sum(const SvmModel& model, const Rows& rows, std::int64_t row, ClassPlace i, ClassPlace j);

// Of all rows, on all threads: their values, and radii of 0.
void reference_sums(const SvmModel& model, const Rows& rows, Decisions& out);

}  // namespace fastsvm

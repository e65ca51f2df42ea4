// The reference sum: svm-predict's own decision values, bit for bit.
#pragma once
#include <cstdint>

#include "answers/decisions.h"
#include "exact/reference/svm_model.h"

namespace fastsvm {

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

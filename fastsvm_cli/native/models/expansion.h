// Computes the coefficients of Maclaurin expansions (Claesen, De Smet, Suykens, De Moor, eqs. 3.7 and 3.8).
#pragma once
#include <cstdint>
#include <vector>

#include "text/features.h"
#include "text/rows.h"

namespace fastsvm {

// Support vectors of an expansion. index: rows of `vectors`; center: m, (d).
struct Terms {
    const Rows& vectors;
    const Features& features;
    const std::vector<std::int64_t>& index;
    const double* center;
};

// Returns the tensors factors[k] sum_i a_i e^{-gamma |x_i - m|^2} (x_i - m)^k, k = 0 .. factors.size() - 1, packed as
// in packed.h; without the exponential unless gaussian. a: (index.size()). Sums follow the order of the vectors, for
// any number of threads.
std::vector<double> expand(const Terms& terms, const double* a, bool gaussian, double gamma,
                           const std::vector<double>& factors);

// The largest |x_i - m|^2; 0 without vectors.
double largest_squared_distance(const Terms& terms);

// Mean, minimum and maximum per feature with implicit zeros, each (d). Ignores `center`.
void column_ranges(const Terms& terms, double* mean, double* low, double* high);

}  // namespace fastsvm

// The degree norms of a kernel expansion: what a certificate is made of (B1 and degree_norm of bounds.py have the
// argument).
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace fastsvm {

// x: (n, d), support vectors about a centre; a: (n), coefficients. Returns, for k = from..to, the sums over i, j of
// a_i a_j e^(-gamma |x_i|^2 - gamma |x_j|^2) (2 gamma x_i.x_j)^k / k!, and last the same summed over all k > to as a
// series of its own. On all threads; at most n^2 d / 2 products. progress: called with the share done, between blocks
// of rows; may throw to stop.
std::vector<double> degree_norms(std::int64_t n, std::int64_t d, const double* x, const double* a, double gamma,
                                 int from, int to, const std::function<void(double)>& progress);

}  // namespace fastsvm

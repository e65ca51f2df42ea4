// The degree norms of a kernel expansion: what a certificate is made of (B1 and degree_norm of bounds.py have the
// argument).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace fastsvm {

// What the two ways below share. n support vectors x~ about a centre; a: (n), their coefficients. from, to: degrees.
// progress: called with the share done, between blocks of rows; may throw to stop.
struct DegreeNorms {
    std::int64_t n;
    const double* a;
    double gamma;
    int from, to;
    std::function<void(double)> progress;
};

// The sums that a certificate needs, in parts of about a second or less. Neither the parts nor the order of the sums
// depend on the number of threads, nor on who computes which part: the totals are those of all parts, added up in
// their order.
class DegreeNormParts {
public:
    virtual ~DegreeNormParts() = default;
    virtual std::int64_t count() const = 0;
    // The sums of one part, as many as degree_norms returns. On all threads.
    virtual std::vector<double> sums(std::int64_t part) const = 0;
    // The share of the work that the first `parts` parts are.
    virtual double share(std::int64_t parts) const = 0;
};

// The parts of what degree_norms below returns. x, and all else that is pointed to, must live as long.
std::unique_ptr<DegreeNormParts> degree_norm_parts(const DegreeNorms& of, std::int64_t d, const double* x);
std::unique_ptr<DegreeNormParts> degree_norm_parts(const DegreeNorms& of, std::int64_t d, const std::int64_t* starts,
                                                   const std::int32_t* columns, const double* values,
                                                   const double* shift, const double* squared_norms);

// Returns, for k = from..to, the sums over i, j of a_i a_j e^(-gamma |x~_i|^2 - gamma |x~_j|^2) (2 gamma x~_i.x~_j)^k /
// k!, and last the same summed over all k > to as a series of its own. On all threads. x: (n, d), the vectors about the
// centre; n^2 d / 2 products.
std::vector<double> degree_norms(const DegreeNorms& of, std::int64_t d, const double* x);

// The same of sparse vectors y, whose centre m is not 0: x~_i.x~_j = y_i.y_j - shift_i - shift_j, shift_i = y_i.m -
// |m|^2 / 2. Row i of y has the entries starts[i] to starts[i + 1] of columns (below d) and values. squared_norms: (n),
// |x~|^2. A product for every column that two vectors have in common.
std::vector<double> degree_norms(const DegreeNorms& of, std::int64_t d, const std::int64_t* starts,
                                 const std::int32_t* columns, const double* values, const double* shift,
                                 const double* squared_norms);

}  // namespace fastsvm

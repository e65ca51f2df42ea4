// Computes the coefficients of Maclaurin expansions (Claesen, De Smet, Suykens, De Moor, eqs. 3.7 and 3.8).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

// Support vectors x_i of an expansion. A center has a number per feature, or std::invalid_argument is thrown.
class ExpandedVectors {
public:
    using Numbers = std::vector<double>;
    // index: rows of `vectors`. Throws std::out_of_range.
    ExpandedVectors(std::shared_ptr<const Rows> vectors, const std::vector<std::int32_t>& features,
                    std::vector<std::int64_t> index);

    // The tensors factors[k] sum_i a_i e^{-gamma |x_i - m|^2} (x_i - m)^k about the center m, k = 0 .. factors.size() -
    // 1, packed as in loops.h; without the exponential unless gaussian. a: (index.size()). Sums follow the order of
    // the vectors, for any number of threads.
    Numbers expand(const Numbers& a, const Numbers& center, bool gaussian, double gamma, const Numbers& factors) const;
    // The largest |x_i - m|^2; 0 without vectors.
    double largest_squared_distance(const Numbers& center) const;
    // Mean, minimum and maximum per feature, with implicit zeros.
    std::array<Numbers, 3> column_ranges() const;

private:
    void check(const Numbers& center) const;
    // Writes x_i - m, (d); returns its squared length.
    double move(std::size_t i, const Numbers& center, double* out) const;

    const std::shared_ptr<const Rows> vectors_;
    const Features features_;
    const std::vector<std::int64_t> index_;
};

// Computes the degree norms of kernel expansions, by which certificates bound omitted degrees.

// Which degree norms of a kernel expansion to compute (B1 and degree_norm of PROOFS.md). n support vectors x~ about a
// center; a: (n), coefficients. from, to: degrees.
struct DegreeNorms {
    std::int64_t n;
    const double* a;
    double gamma;
    int from, to;
};

// The norms: for k = from..to, the sums over i, j of a_i a_j e^(-gamma |x~_i|^2 - gamma |x~_j|^2) (2 gamma x~_i.x~_j)^k
// / k!, then the sum over k > to, as its own series; in parts of about a second at most. Parts and order of sums do not
// depend on threads or on where a part is computed; totals add the parts in order.
class DegreeNormParts {
public:
    virtual ~DegreeNormParts() = default;
    virtual std::int64_t count() const = 0;
    // One part's sums. Uses all threads.
    virtual std::vector<double> sums(std::int64_t part) const = 0;
    // Share of the work in the first `parts` parts. Both throw std::out_of_range.
    virtual double share(std::int64_t parts) const = 0;
};

// Makes the parts for dense vectors. x: (n, d), about the center; n^2 d / 2 products. All pointers must outlive the
// parts.
std::unique_ptr<DegreeNormParts> degree_norm_parts(const DegreeNorms& of, std::int64_t d, const double* x);

// The same for sparse y with a center m not 0: x~_i.x~_j = y_i.y_j - shift_i - shift_j, shift_i = y_i.m - |m|^2 / 2.
// Row i of y: entries starts[i] to starts[i + 1] of columns (below d) and values. squared_norms: (n), |x~|^2. A product
// per shared column of two vectors.
std::unique_ptr<DegreeNormParts> degree_norm_parts(const DegreeNorms& of, std::int64_t d, const std::int64_t* starts,
                                                   const std::int32_t* columns, const double* values,
                                                   const double* shift, const double* squared_norms);

}  // namespace fastsvm

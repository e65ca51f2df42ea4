// Loops that evaluate packed polynomials, for several rows or several polynomials side by side.
#pragma once
#include <cstdint>

namespace fastsvm {

// Values of packed polynomials (packed.h) without constant term: the sum over k = 1..degree of levels[k - 1], the last
// in `top`; degree 1 to max_degree. A polynomial's bits for a row do not depend on others beside them, but differ
// between sparse and dense rows.
template <class Top> struct PolynomialLoops {
    // One row: count entries, columns increasing.
    double (*sparse)(int degree, const double* const* levels, const Top* top, std::int64_t d, std::int64_t count,
                     const std::int32_t* columns, const double* x);
    // `lanes` rows: x is (d, lanes), out (lanes).
    void (*dense)(int degree, const double* const* levels, const Top* top, std::int64_t d, const double* x,
                  double* out);
    // `lanes` polynomials with interleaved coefficients: out (lanes).
    void (*sparse_panel)(int degree, const double* const* levels, const Top* top, std::int64_t d, std::int64_t count,
                         const std::int32_t* columns, const double* x, double* out);
    // The same for the first `rows` of `lanes` rows: x is (d, lanes), out (rows, lanes).
    void (*dense_panel)(int degree, const double* const* levels, const Top* top, std::int64_t d, int rows,
                        const double* x, double* out);
};

}  // namespace fastsvm

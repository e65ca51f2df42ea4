// Polynomials in packed form (packed.h), without their constant term: of one row, of rows side by side, and of rows by
// polynomials side by side. Compiled once per instruction set (polynomials.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

// A value is the sum over k = 1..degree of levels[k - 1], of which the last one is `top`; degree 1 to max_degree. Of
// one polynomial and one row it has the same bits, whether other polynomials or rows stand beside them. A sparse row's
// bits differ from those of a dense one: its products go into four sums in turn.
template <class Top> struct PolynomialLoops {
    // Of one sparse row: count entries, columns increasing.
    double (*sparse)(int degree, const double* const* levels, const Top* top, std::int64_t d, std::int64_t count,
                     const std::int32_t* columns, const double* x);
    // Of `lanes` dense rows: x is (d, lanes), out (lanes).
    void (*dense)(int degree, const double* const* levels, const Top* top, std::int64_t d, const double* x,
                  double* out);
    // Of `lanes` polynomials, whose coefficients of one monomial follow each other: out (lanes).
    void (*sparse_panel)(int degree, const double* const* levels, const Top* top, std::int64_t d, std::int64_t count,
                         const std::int32_t* columns, const double* x, double* out);
    // Of the first `rows` of `lanes` rows: x is (d, lanes), out (rows, lanes).
    void (*dense_panel)(int degree, const double* const* levels, const Top* top, std::int64_t d, int rows,
                        const double* x, double* out);
};

}  // namespace fastsvm

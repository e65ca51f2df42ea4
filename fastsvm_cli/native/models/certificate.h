// Certificates of Maclaurin expansions: a radius's constants, and its part per row. Proof: B1 to B4 and B7 of
// bounds.py, same names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/center.h"
#include "simd/packed.h"
#include "text/rows.h"

namespace fastsvm {

// Per expansion; upper bounds. Weight and count are B5's.
struct Certificate {
    std::vector<double> truncation;  // W_{p+1} .. W_N, then W_{>N}: the norms of the omitted degrees; empty for finite
                                     // kernels
    std::vector<double> error;       // per degree k = 0..p: |T_k - stored T_k|, Frobenius
    double weight = 0;               // sum |a_i| over its support vectors
    double count = 0;                // their number
};

constexpr std::size_t most_degrees_left_out = 20;  // maximum number of W_n in a certificate, with W_{>N}

// Upper bounds for a row and a center, for all expansions about it.
struct RowFromCenter {
    double tail[most_degrees_left_out];  // sqrt of the share of each omitted degree, and of all beyond
    double weight;                       // of exp(-gamma |z - m|^2)
    double distance[max_degree + 1];     // of |z - m|^k
    double reach[max_degree + 1];        // of (|z| + |m|)^k, or of |z - m|^k if the row is centered
    double exponent_error;               // relative error of the computed weight
};

// Truncation and rounding bounds of a model's expansions, all of one degree, with the model's features as columns.
struct ExpansionBounds {
    bool gaussian;  // rbf kernel
    double gamma;
    int degree;
    double dimension;

    // Error bound of `norm`, the computed |z - m|^2 (B4; B7: underflow): from z - m if `centered`, else from |z|^2,
    // |m|^2 and z.m.
    double norm_slack(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const;
    // Whether all of a center's support vectors have K < 1e-12 with the row (B35). False without a rounding bound.
    bool is_far(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const;
    // left_out: norms of omitted degrees in a certificate.
    RowFromCenter row_from(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered,
                           std::size_t left_out) const;
    // Error bound of one expansion's `term` in a row's value. norms: |T_k| of stored degrees; rank: if compressed.
    double radius(const Certificate& certificate, const double* norms, std::size_t rank, const RowFromCenter& seen,
                  double term) const;
};

}  // namespace fastsvm

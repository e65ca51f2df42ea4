// Maclaurin expansions' certificates: what a radius is made of, and the part of it that is each row's own. B1 to B4 and
// B7 of bounds.py have the argument; the names are theirs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/center.h"
#include "simd/packed.h"
#include "text/rows.h"

namespace fastsvm {

// Per expansion; all numbers are upper bounds. Weight and count are B5's.
struct Certificate {
    std::vector<double> truncation;  // W_{p+1} .. W_N, then W_{>N}: the norms of the degrees that are left out; empty
                                     // for finite kernels
    std::vector<double> error;       // per degree k = 0..p: |T_k - stored T_k|, Frobenius
    double weight = 0;               // sum |a_i| over its support vectors
    double count = 0;                // how many they are
};

constexpr std::size_t most_degrees_left_out = 20;  // W_n that a certificate may have, and W_{>N}

// A row as it is seen from a centre, for the radii of all expansions about it: upper bounds.
struct RowFromCenter {
    double tail[most_degrees_left_out];  // sqrt of the share of each degree left out, and of all beyond
    double weight;                       // of exp(-gamma |z - m|^2)
    double distance[max_degree + 1];     // of |z - m|^k
    double reach[max_degree + 1];        // of (|z| + |m|)^k, or of |z - m|^k where the row is centred
    double exponent_error;               // of the computed weight, relative
};

// Bounds of what the expansions of a model leave out and round off. They have one degree, and as many columns as the
// model has features.
struct ExpansionBounds {
    bool gaussian;  // an rbf kernel's
    double gamma;
    int degree;
    double dimension;

    // norm: |z - m|^2 as it was computed, of z - m itself where it is `centered`, from |z|^2, |m|^2 and z.m elsewhere.
    // How far it can be from the true one (B4; B7: what underflows).
    double norm_slack(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const;
    // Whether every support vector of a centre is so far from a row that K < 1e-12 (B35). Where nothing is known of the
    // rounding, it is not far.
    bool is_far(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const;
    // left_out: how many norms a certificate has of the degrees left out.
    RowFromCenter row_from(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered,
                           std::size_t left_out) const;
    // Of one expansion's share in a row's value, `term`: how far it is from the exact one. norms: |T_k| of every degree
    // stored; rank: of a compressed one.
    double radius(const Certificate& certificate, const double* norms, std::size_t rank, const RowFromCenter& seen,
                  double term) const;
};

}  // namespace fastsvm

// Certificates of Maclaurin expansions: proven error bounds, which give the radii of a row's values; and the centers of
// expansions, and how far from them these are valid.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/packed.h"
#include "text/rows.h"

namespace fastsvm {

struct Center {
    // Center of Maclaurin expansions. m: (d). largest_norm: largest |x - m|^2 of its support vectors. gaussian: RBF
    // with this gamma; finite expansions have no limits.
    Center(const double* m, std::int64_t d, double largest_norm, bool gaussian, double gamma);

    std::vector<double> m;
    double squared_norm = 0;  // |m|^2
    double largest_norm;
    // Above this |z - m|^2, all of the center's support vectors have K < 1e-12; expansions are skipped (B35).
    double far_norm;
    // Claesen et al., eq. (3.11): |z - m|^2 must be below this.
    double norm_limit;
    bool moved;  // m is not the origin
};

// Upper bounds of one expansion's errors. Proof: B1 to B4 and B7 of PROOFS.md, same names; weight and count are B5's.
struct Certificate {
    std::vector<double> truncation;  // norms W_{p+1} .. W_N, W_{>N} of omitted degrees; empty for finite kernels
    std::vector<double> error;       // per degree k = 0..p: |T_k - stored T_k|, Frobenius
    double weight = 0;               // sum |a_i| over its support vectors
    double count = 0;                // number of those
};

constexpr std::size_t most_degrees_left_out = 20;  // maximum length of `truncation`

// Upper bounds for a row, for all expansions about a center.
struct RowFromCenter {
    double tail[most_degrees_left_out];  // sqrt of the share of each omitted degree, and of all beyond
    double weight;                       // of exp(-gamma |z - m|^2)
    double distance[max_degree + 1];     // of |z - m|^k
    double reach[max_degree + 1];        // of (|z| + |m|)^k, or, if centered, |z - m|^k
    double exponent_error;               // relative error of `weight` as computed
};

// Error bounds of a model's expansions, all of one degree.
struct ExpansionBounds {
    bool gaussian;  // RBF
    double gamma;
    int degree;
    double dimension;

    // Error bound of `norm`, the computed |z - m|^2 (B4; B7: underflow): from z - m if `centered`, else from |z|^2,
    // |m|^2 and z.m.
    double norm_slack(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const;
    // Whether all of a center's support vectors have K < 1e-12 with the row (B35). False without a rounding bound.
    bool is_far(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const;
    // Bounds for a row. left_out: length of `truncation`.
    RowFromCenter row_from(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered,
                           std::size_t left_out) const;
    // Error bound of one expansion's `term` in a row's value. norms: |T_k| of stored degrees; rank: if compressed.
    double radius(const Certificate& certificate, const double* norms, std::size_t rank, const RowFromCenter& seen,
                  double term) const;
};

}  // namespace fastsvm

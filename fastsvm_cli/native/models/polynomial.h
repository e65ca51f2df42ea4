// Polynomials of Maclaurin expansions, with their certificates.
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

// The polynomials of Maclaurin expansions, stored for fast evaluation.

// A Maclaurin expansion's sum_k T_k (z - m)^k, of degree up to max_degree: in raw coordinates if that leaves enough
// digits, else in z - m.
class Polynomial {
public:
    // tensors: for k = 0..degree the entries T_j1..jk, j1 <= ... <= jk, of the symmetric tensor, packed as in packed.h.
    // single: in single precision; the highest degree stays so if that saves cache. gamma: of the weight exp(-gamma |z
    // - m|^2), or 0: raw coordinates cost its exponent digits too.
    Polynomial(const double* tensors, int degree, const Center& center, bool single, double gamma);
    // Degree 2 with T_2 = sum_r lambda_r q_r q_r'. constant_and_v: T_0 and T_1. lambda: (rank); q: (rank, d).
    Polynomial(const double* constant_and_v, std::int64_t rank, const double* lambda, const double* q,
               const Center& center, bool single);

    // Whether values take z - m.
    bool centered() const { return centered_; }
    // The rank, or 0 if not compressed. Compressed polynomials take rows one by one.
    std::size_t rank() const { return lambda_.size(); }
    // Upper bounds of the Frobenius norms |T_k|, for every degree.
    const double* norms() const { return norms_; }
    // Writes the values of `lanes` rows: x is (d, lanes), out (lanes).
    void values(const double* x, double* out) const;
    // Returns the value of one row, in raw coordinates.
    double value(const Columns& columns, std::vector<double>& scratch) const;

    // Whether a PolynomialPanel can hold both.
    bool fits_beside(const Polynomial& other) const {
        return degree_ > 0 && !centered_ && lambda_.empty() && other.d_ == d_ && other.degree_ == degree_ &&
               !other.centered_ && other.lambda_.empty() && other.top_float_.empty() == top_float_.empty();
    }

private:
    friend class PolynomialPanel;
    double compressed(const Columns& columns, std::vector<double>& scratch) const;

    std::int64_t d_;
    int degree_;
    bool centered_ = false;
    double constant_;
    // Degree 1, 2, ...: packed entries times orderings of the monomial.
    std::vector<std::vector<double>> levels_;
    // The highest degree, instead of levels_.back(), or empty.
    std::vector<float> top_float_;
    double norms_[max_degree + 1] = {};
    // Compressed: degree 2 is sum_r lambda_r (q_r.(z - m))^2.
    std::vector<double> lambda_;    // (rank)
    std::vector<double> q_;         // (d, rank)
    std::vector<double> q_center_;  // (rank): -q_r.m
};

// `lanes` polynomials in the same variables, side by side; results are the same.
class PolynomialPanel {
public:
    // Takes coefficients, but not norms, of `lanes` polynomials (fits_beside).
    explicit PolynomialPanel(Polynomial* const* polynomials);
    // Writes the values of the first `rows` of `lanes` rows: x is (d, lanes), out (rows, lanes).
    void values(int rows, const double* x, double* out) const;
    // Writes the values of one row: out is (lanes).
    void values(const Columns& columns, double* out) const;

private:
    void add_constants(int rows, double* out) const;

    std::int64_t d_;
    int degree_;
    std::vector<double> constants_;            // (lanes)
    std::vector<std::vector<double>> levels_;  // (coefficients, lanes)
    std::vector<float> top_float_;
};

}  // namespace fastsvm

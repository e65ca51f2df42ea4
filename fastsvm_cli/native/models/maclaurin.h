// Maclaurin expansions of decision functions (Claesen, De Smet, Suykens, De Moor, eqs. 3.7 and 3.8), of degree up to 4,
// about chosen centres.
#pragma once
#include <cstdint>
#include <vector>

#include "answers/decisions.h"
#include "exact/rounding.h"
#include "simd/packed.h"
#include "text/features.h"
#include "text/rows.h"

namespace fastsvm {

// What a radius is made of, per expansion; all numbers are upper bounds. Where they come from: B1, B2 and B5 of
// bounds.py.
struct Certificate {
    std::vector<double> truncation;  // W_{p+1} .. W_N, then W_{>N}: the norms of the degrees that are left out; empty
                                     // for finite kernels
    std::vector<double> error;       // per degree k = 0..p: |T_k - stored T_k|, Frobenius
    double weight = 0;               // sum |a_i| over its support vectors
    double count = 0;                // how many they are
};

// f(z) ~ sum over the expansions of its pair of  w(z) sum_k T_k (z - m)^k  -  rho,
// with w(z) = exp(-gamma |z - m|^2) for the RBF kernel (gaussian) and 1 for linear and polynomial kernels.
class Maclaurin {
public:
    Maclaurin(std::vector<std::int32_t> features, bool gaussian, double gamma, int degree, std::vector<double> rho);

    // m: (d). largest_norm: the largest squared norm of a support vector about m, for the bound of eq. (3.11).
    void add_center(const double* m, double largest_norm);
    // coefficients: for k = 0..degree the entries T_j1..jk, j1 <= ... <= jk, of the symmetric tensor, as packed.h
    // orders them. `single`: they are single precision, and those of the highest degree are kept so when that saves
    // cache.
    void add_expansion(std::int64_t pair, std::int64_t center, const double* coefficients, bool single,
                       const Certificate* certificate);
    // An expansion of degree 2 whose M is compressed: constant and v as above, lambda (rank), q (rank, d).
    void add_compressed(std::int64_t pair, std::int64_t center, const double* constant_and_v, std::int64_t rank,
                        const double* lambda, const double* q, bool single, const Certificate* certificate);
    // For svm-predict's own rounding (B5): the kernel of the exact model, a linear one as the polynomial one that it
    // is, and the most entries in a support vector.
    void set_rounding(const Kernel& kernel, double longest_vector) {
        exact_kernel_ = kernel;
        longest_vector_ = longest_vector;
    }
    // Rows are done on all threads; each row's value depends on that row alone.
    void decision_values(const Rows& rows, Decisions& out) const;

    int degree() const { return degree_; }
    std::int64_t dimension() const { return features_.size(); }
    std::int64_t pairs() const { return static_cast<std::int64_t>(rho_.size()); }
    // Whether every pair has what its radius is made of.
    bool certified() const { return pair_weight_.size() == rho_.size() && certificates_ == expansions_.size(); }
    std::int64_t coefficients() const {
        std::int64_t n = 0;
        for (int k = 0; k <= degree_; ++k) n += packed_size(k, dimension());
        return n;
    }

private:
    struct Center {
        std::vector<double> m;  // (d)
        double squared_norm;
        double largest_norm;
        // From this |z - m|^2 on every support vector of the centre has K < 1e-12: its expansions are skipped.
        double far_norm;
        // The bound of eq. (3.11): |z - m|^2 must stay below it.
        double norm_limit;
        // Whether m is another point than the origin.
        bool moved;
    };
    struct Expansion {
        std::int64_t pair, center;
        // Whether it is evaluated in z - m, because raw coordinates would lose too many digits.
        bool centered;
        double constant;
        // Degree 1, 2, ...: the packed entries, times the orderings of each monomial; of raw coordinates unless
        // centered.
        std::vector<std::vector<double>> levels;
        // Unless it is empty: the highest degree, instead of levels.back().
        std::vector<float> top_float;
        // |T_k| of every degree, Frobenius norms, about the centre.
        double norms[max_degree + 1];
        // With a rank, degree 2 is sum_r lambda_r (q_r.(z - m))^2 instead.
        std::vector<double> lambda;    // (rank)
        std::vector<double> q;         // (d, rank)
        std::vector<double> q_center;  // (rank): -q_r.m
        Certificate certificate;
    };
    struct Block;  // one thread's rows
    struct Near;   // a row as seen from a centre, for its radii

    void evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, Decisions& out) const;
    Expansion& check(std::int64_t pair, std::int64_t center, const Certificate* certificate);
    void weigh(const Rows& rows, std::int64_t first, std::int64_t n, Block& block) const;
    void polynomial_dense(const Expansion& e, const double* x, double* out) const;
    double polynomial_sparse(const Expansion& e, const Columns& columns) const;
    double compressed(const Expansion& e, const Columns& columns, std::vector<double>& scratch) const;
    double norm_slack(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const;
    bool is_far(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const;
    Near near(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const;
    double radius(const Expansion& e, const Near& near, double term) const;
    KernelRounding kernel_rounding(const Rows& rows, std::int64_t row) const;

    Features features_;
    bool gaussian_;
    double gamma_;
    int degree_;
    // Rows with so many entries that have a column are done side by side, with all monomials; others one by one, with
    // the monomials of their entries. The rule looks at one row alone, so that its neighbours do not change its values.
    std::int64_t dense_from_;
    std::vector<double> rho_;
    std::vector<Center> centers_;
    std::vector<Expansion> expansions_;
    std::vector<double> pair_weight_, pair_count_;  // sums over the certificates of a pair
    std::size_t certificates_ = 0;                  // expansions that have one
    Kernel exact_kernel_;
    double longest_vector_ = 0;
};

}  // namespace fastsvm

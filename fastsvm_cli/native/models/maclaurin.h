// Maclaurin expansions of decision functions (Claesen, De Smet, Suykens, De Moor, eqs. 3.7 and 3.8), of degree up to 4,
// about chosen centres.
#pragma once
#include <cstdint>
#include <vector>

#include "answers/decisions.h"
#include "exact/rounding.h"
#include "models/center.h"
#include "models/certificate.h"
#include "models/polynomial.h"
#include "simd/packed.h"
#include "simd/pool.h"
#include "text/features.h"
#include "text/rows.h"

namespace fastsvm {

// f(z) ~ sum over the expansions of its pair of  w(z) sum_k T_k (z - m)^k  -  rho,
// with w(z) = exp(-gamma |z - m|^2) for the RBF kernel (gaussian) and 1 for linear and polynomial kernels.
class Maclaurin {
public:
    // degree: 0 to max_degree. Throws std::invalid_argument.
    Maclaurin(std::vector<std::int32_t> features, bool gaussian, double gamma, int degree, std::vector<double> rho);
    Maclaurin(const Maclaurin&) = delete;
    ~Maclaurin();

    // m: (d). largest_norm: the largest squared norm of a support vector about m, for the bound of eq. (3.11).
    void add_center(const double* m, double largest_norm);
    // coefficients: for k = 0..degree the entries T_j1..jk, j1 <= ... <= jk, of the symmetric tensor, as packed.h
    // orders them. `single`: they are single precision, and those of the highest degree are kept so when that saves
    // cache. certificate: null for none; those of all expansions leave out the same degrees. Throws std::out_of_range,
    // std::invalid_argument.
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

    int degree() const { return bounds_.degree; }
    std::int64_t dimension() const { return features_.size(); }
    std::int64_t pairs() const { return static_cast<std::int64_t>(rho_.size()); }
    // Whether every pair has what its radius is made of.
    bool certified() const { return pair_weight_.size() == rho_.size() && certificates_ == expansions_.size(); }
    std::int64_t coefficients() const {
        std::int64_t n = 0;
        for (int k = 0; k <= degree(); ++k) n += packed_size(k, dimension());
        return n;
    }

private:
    struct Expansion {
        std::int64_t pair, center;
        Polynomial polynomial;
        Certificate certificate;
        std::size_t panel = no_panel;  // in panels_, of the first of `lanes` expansions that stand in it
    };
    static constexpr std::size_t no_panel = static_cast<std::size_t>(-1);
    struct Block;  // one thread's rows

    void evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, Decisions& out) const;
    void check(std::int64_t pair, std::int64_t center, const Certificate* certificate) const;
    void make_panel();
    void add(std::int64_t pair, std::int64_t center, Polynomial polynomial, const Certificate* certificate);
    void weigh(const Rows& rows, std::int64_t first, std::int64_t n, Block& block) const;
    KernelRounding kernel_rounding(const Rows& rows, std::int64_t row) const;

    Features features_;
    ExpansionBounds bounds_;
    // Rows with so many entries that have a column are done side by side, with all monomials; others one by one, with
    // the monomials of their entries. The rule looks at one row alone, so that its neighbours do not change its values.
    std::int64_t dense_from_;
    std::vector<double> rho_;
    std::vector<Center> centers_;
    std::vector<Expansion> expansions_;
    // Of `lanes` neighbours in expansions_ about one centre, of one pair after the other: rows are evaluated with all
    // of them at once, and their polynomials have their norms alone.
    std::vector<PolynomialPanel> panels_;
    std::size_t alone_from_ = 0;                    // the expansions from here on stand in no panel
    std::vector<double> pair_weight_, pair_count_;  // sums over the certificates of a pair
    std::size_t certificates_ = 0;                  // expansions that have one
    Kernel exact_kernel_;
    double longest_vector_ = 0;
    Pool<Block> blocks_;
};

}  // namespace fastsvm

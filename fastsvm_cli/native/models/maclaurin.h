// Maclaurin models (Claesen et al., "Fast Prediction with SVM Models Containing RBF Kernels"). Format: FORMAT.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "answers/predictions.h"
#include "engine/model.h"
#include "exact/reference/rounding.h"
#include "simd/loops.h"
#include "simd/parallel.h"
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

// Coefficients of a polynomial, or of several side by side, without the constant.
struct PackedLevels {
    std::int64_t d;
    int degree;
    // Degree 1, 2, ...: packed entries times orderings of the monomial.
    std::vector<std::vector<double>> levels;
    std::vector<float> top_float;  // the highest degree, instead of levels.back(), or empty

    // evaluate(loops, levels, top), with the PolynomialLoops of its precision.
    template <class Evaluate> auto with(Evaluate evaluate) const {
        const double* starts[max_degree];
        for (std::size_t k = 0; k < levels.size(); ++k) starts[k] = levels[k].data();
        return top_float.empty() ? evaluate(*loops().double_polynomials, starts, levels.back().data())
                                 : evaluate(*loops().single_polynomials, starts, top_float.data());
    }
};

// A Maclaurin expansion's sum_k T_k (z - m)^k, of degree up to max_degree: in raw coordinates if that leaves enough
// digits, else in z - m.
class Polynomial {
public:
    // tensors: for k = 0..degree the entries T_j1..jk, j1 <= ... <= jk, of the symmetric tensor, packed as in loops.h.
    // single: in single precision; the highest degree stays so if that saves cache. gamma: of the weight exp(-gamma |z
    // - m|^2), or 0: raw coordinates cost its exponent digits too.
    Polynomial(const double* tensors, int degree, const Center& center, bool single, double gamma);
    // Degree 2 with T_2 = sum_r lambda_r q_r q_r'. coefficients: T_0, T_1, lambda (rank) and q (rank, d).
    Polynomial(const double* coefficients, std::int64_t rank, const Center& center, bool single);

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
        return packed_.degree > 0 && !centered_ && lambda_.empty() && other.packed_.d == packed_.d &&
               other.packed_.degree == packed_.degree && !other.centered_ && other.lambda_.empty() &&
               other.packed_.top_float.empty() == packed_.top_float.empty();
    }

private:
    friend class PolynomialPanel;
    double compressed(const Columns& columns, std::vector<double>& scratch) const;

    PackedLevels packed_;
    bool centered_ = false;
    double constant_;
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

    std::vector<double> constants_;  // (lanes)
    PackedLevels packed_;            // (coefficients, lanes)
};

// Maclaurin expansions of decision functions (Claesen, De Smet, Suykens, De Moor, eqs. 3.7 and 3.8), of degree up to 4,
// about chosen centers: f(z) ~ sum over the pair's expansions of w(z) sum_k T_k (z - m)^k - rho, with w(z) = exp(-gamma
// |z - m|^2) for RBF kernels (gaussian), 1 for linear and polynomial ones.
class Maclaurin {
public:
    // degree: 0 to max_degree. Throws std::invalid_argument.
    Maclaurin(std::vector<std::int32_t> features, bool gaussian, double gamma, int degree, std::vector<double> rho);
    Maclaurin(const Maclaurin&) = delete;
    ~Maclaurin();

    // Adds a center. m: (d). largest_norm: largest |x - m|^2 of a support vector, for eq. (3.11).
    void add_center(const double* m, double largest_norm) {
        centers_.emplace_back(m, dimension(), largest_norm, bounds_.gaussian, bounds_.gamma);
    }
    // Adds an expansion. coefficients: as Polynomial takes them, tensors T_0 to T_degree or, with a rank, of degree 2
    // with compressed M. certificate: or null; all must omit the same degrees. Throws std::out_of_range,
    // std::invalid_argument.
    void add_expansion(std::int64_t pair, std::int64_t center, const double* coefficients, std::int64_t rank,
                       bool single, const Certificate* certificate);
    // For B5: the exact model's kernel (linear as polynomial), and most entries of a support vector.
    void set_rounding(const Kernel& kernel, double longest_vector) {
        exact_kernel_ = kernel;
        longest_vector_ = longest_vector;
    }
    // Uses all threads. A row's value depends on that row alone.
    void decision_values(const Rows& rows, Decisions& out) const;

    int degree() const { return bounds_.degree; }
    std::int64_t dimension() const { return features_.size(); }
    std::int64_t pairs() const { return static_cast<std::int64_t>(rho_.size()); }
    // Whether every pair has all parts of its radius.
    bool certified() const { return pair_weight_.size() == rho_.size() && certificates_ == expansions_.size(); }

private:
    struct Expansion {
        std::int64_t pair, center;
        Polynomial polynomial;
        Certificate certificate;
        std::size_t beside = no_group;  // in side_by_side_, for the first expansion of a panel
    };
    static constexpr std::size_t no_group = static_cast<std::size_t>(-1);
    struct Block;

    void evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, Decisions& out) const;
    void make_group();
    void weigh(const Rows& rows, std::int64_t first, std::int64_t n, Block& block) const;
    KernelRounding kernel_rounding(const Rows& rows, std::int64_t row) const;

    Features features_;
    ExpansionBounds bounds_;
    // Rows with this many entries in columns are evaluated side by side, with all monomials; others one by one, with
    // those of their entries. So a row's values do not depend on other rows.
    std::int64_t dense_from_;
    std::vector<double> rho_;
    std::vector<Center> centers_;
    std::vector<Expansion> expansions_;
    // Each for `lanes` consecutive expansions about one center, of consecutive pairs, whose own polynomials then have
    // only norms.
    std::vector<PolynomialPanel> side_by_side_;
    std::size_t alone_from_ = 0;                    // expansions from here on are in no panel
    std::vector<double> pair_weight_, pair_count_;  // sums over a pair's certificates
    std::size_t certificates_ = 0;                  // number of expansions with one
    Kernel exact_kernel_;
    double longest_vector_ = 0;
    Pool<Block> blocks_;
};

// Expansions about shared centers.
class MaclaurinFile : public CompiledFile {
public:
    struct Center {
        std::vector<double> point;  // (d)
        double largest_norm = 0;    // the largest |x_i - point|^2 over the support vectors, for eq. (3.11)
    };
    // The term exp(-gamma |z - m|^2) (c + v.(z - m) + (z - m)'M(z - m) + ...) of a decision function, without the
    // exponential for finite kernels.
    struct Expansion {
        std::int64_t pair = 0, center = 0;  // numbers of the decision function and of the center
        // c, v (d), M, ..., flat, in the order of FORMAT.md. With a rank, lambda (rank) and q (rank, d) replace M.
        std::vector<double> coefficients;
        std::optional<Certificate> certificate;
        std::int64_t rank = 0;
    };
    using CompiledFile::CompiledFile;

    // Lines of the header (FORMAT.md).
    int degree = 0;
    std::vector<std::int32_t> features;  // (d)
    bool single = false;                 // coefficients in single precision
    int highest_norm = 0;                // highest degree with its own norm in certificates; 0 without
    int longest_vector = 0;              // largest number of entries of a support vector
    std::vector<std::shared_ptr<Center>> centers;
    std::vector<std::shared_ptr<Expansion>> expansions;

    // Approximate products for a row with `longest_vector` entries.
    double products() const;

    const char* kind() const override { return "maclaurin"; }
    const char* body_word() const override { return "expansions"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    bool certified() const override { return highest_norm > 0; }
    bool bounded() const override { return header.kernel_type == "rbf"; }
    bool judged_by_bound() const override { return bounded() && degree == 2 && !certified(); }
    std::vector<std::int32_t> used_indices() const override { return features; }
    std::size_t bytes() const override;

protected:
    std::shared_ptr<Model> make_model() const override;

private:
    void check_keys(Archive& archive) const;
    void visit(Archive& archive, Center& center) const;
    void visit(Archive& archive, Expansion& expansion) const;
    void visit(Archive& archive, std::optional<Certificate>& certificate) const;
};

}  // namespace fastsvm

// Maclaurin models (Claesen et al., "Fast Prediction with SVM Models Containing RBF Kernels"). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "answers/predictions.h"
#include "engine/model.h"
#include "exact/reference/rounding.h"
#include "models/polynomial.h"
#include "simd/packed.h"
#include "simd/parallel.h"
#include "text/rows.h"

namespace fastsvm {

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
    void add_center(const double* m, double largest_norm);
    // Adds an expansion. coefficients: tensors T_0 to T_degree, as Polynomial takes them. certificate: or null; all
    // must omit the same degrees. Throws std::out_of_range, std::invalid_argument.
    void add_expansion(std::int64_t pair, std::int64_t center, const double* coefficients, bool single,
                       const Certificate* certificate);
    // Adds an expansion of degree 2 with compressed M, as Polynomial takes it.
    void add_compressed(std::int64_t pair, std::int64_t center, const double* constant_and_v, std::int64_t rank,
                        const double* lambda, const double* q, bool single, const Certificate* certificate);
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
        std::size_t beside = no_group;  // in side_by_side_, for the first expansion of a panel
    };
    static constexpr std::size_t no_group = static_cast<std::size_t>(-1);
    struct Block;

    void evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, Decisions& out) const;
    void check(std::int64_t pair, std::int64_t center, const Certificate* certificate) const;
    void make_group();
    void add(std::int64_t pair, std::int64_t center, Polynomial polynomial, const Certificate* certificate);
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

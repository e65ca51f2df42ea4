// Maclaurin models (Claesen et al., "Fast Prediction with SVM Models Containing RBF Kernels"). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/model_file.h"
#include "models/certificate.h"

namespace fastsvm {

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

// Maclaurin models (Claesen et al., "Fast Prediction with SVM Models Containing RBF Kernels"). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model_file.h"
#include "models/certificate.h"

namespace fastsvm {

// Expansions about shared centers.
class MaclaurinFile : public CompiledFile {
public:
    struct Center {
        std::vector<double> point;  // (d)
        double largest_norm;        // the largest |x_i - point|^2 over the support vectors, for eq. (3.11)
    };
    // The term exp(-gamma |z - m|^2) (c + v.(z - m) + (z - m)'M(z - m) + ...) of a decision function, without the
    // exponential for finite kernels.
    struct Expansion {
        std::int64_t pair, center;  // numbers of the decision function and of the center
        // c, v (d), M, ..., flat, in the order of FORMAT.md. With a rank, lambda (rank) and q (rank, d) replace M.
        std::vector<double> coefficients;
        std::optional<Certificate> certificate;
        std::int64_t rank = 0;
    };
    using Centers = std::vector<std::shared_ptr<const Center>>;
    using Expansions = std::vector<std::shared_ptr<const Expansion>>;
    // Lines of the header (FORMAT.md). features: (d).
    struct Keys {
        int degree = 0;
        std::vector<std::int32_t> features;
        bool single = false;     // coefficients in single precision
        int highest_norm = 0;    // highest degree with its own norm in certificates; 0 without
        int longest_vector = 0;  // largest number of entries of a support vector
    };
    // Throws std::invalid_argument.
    MaclaurinFile(Header header, std::string fingerprint, Keys keys, Centers centers, Expansions expansions,
                  std::optional<FoldedScaling> folded);
    // text: from open_compiled. Throws ModelError.
    static std::unique_ptr<CompiledFile> read(std::string_view text);

    const Keys keys;
    const Centers centers;
    const Expansions expansions;

    // Approximate products for a row with `longest_vector` entries.
    double products() const;

    const char* kind() const override { return "maclaurin"; }
    bool certified() const override { return keys.highest_norm > 0; }
    bool bounded() const override { return header.kernel_type == "rbf"; }
    bool judged_by_bound() const override { return bounded() && keys.degree == 2 && !certified(); }
    std::vector<std::int32_t> used_indices() const override { return keys.features; }
    std::size_t bytes() const override;

protected:
    void write(std::string& out) const override;
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm

// Border models (Mills, "When Support Vector Machines are just too slow"). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model_file.h"

namespace fastsvm {

// At a border sample b, between vectors of opposite class, a decision function is `level`; n is its gradient there. A
// row's value is level + n . (z - b) for the nearest sample.
class BorderFile : public CompiledFile {
public:
    // Border samples of a pair of classes.
    struct Samples {
        double level;  // decision value of all samples; without samples, of every row
        std::int64_t count;
        std::vector<double> rows;  // (count, 2, d): a sample's point, then its normal
    };
    // features: (d). samples: (pairs). local: number of nearest samples that are averaged. single: rows are in single
    // precision. Throws std::invalid_argument.
    BorderFile(Header header, std::string fingerprint, std::vector<std::int32_t> features,
               std::vector<std::shared_ptr<const Samples>> samples, int local, bool single,
               std::optional<FoldedScaling> folded);
    // text: from open_compiled. Throws ModelError.
    static std::unique_ptr<CompiledFile> read(std::string_view text);

    const std::vector<std::int32_t> features;
    const std::vector<std::shared_ptr<const Samples>> samples;
    const int local;
    const bool single;

    const char* kind() const override { return "border"; }
    std::vector<std::int32_t> used_indices() const override { return features; }
    std::size_t bytes() const override;

protected:
    void write(std::string& out) const override;
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm

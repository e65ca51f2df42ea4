// Border models (Mills, "When Support Vector Machines are just too slow"). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/model_file.h"

namespace fastsvm {

// At a border sample b, between vectors of opposite class, a decision function is `level`; n is its gradient there. A
// row's value is level + n . (z - b) for the nearest sample.
class BorderFile : public CompiledFile {
public:
    // Border samples of a pair of classes.
    struct Samples {
        double level = 0;  // decision value of all samples; without samples, of every row
        std::int64_t count = 0;
        std::vector<double> rows;  // (count, 2, d): a sample's point, then its normal
    };
    using CompiledFile::CompiledFile;

    std::vector<std::int32_t> features;             // (d)
    std::vector<std::shared_ptr<Samples>> samples;  // (pairs)
    int local = 1;                                  // number of nearest samples that are averaged
    bool single = false;                            // rows are in single precision

    const char* kind() const override { return "border"; }
    const char* body_word() const override { return "border"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::vector<std::int32_t> used_indices() const override { return features; }
    std::size_t bytes() const override;

protected:
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm

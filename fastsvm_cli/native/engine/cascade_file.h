// Cascades: cheap stages, calibrated on rows, before the exact model (methods/cascade/guarantee.py). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/ordered_file.h"
#include "models/cascade.h"

namespace fastsvm {

// An exact model with the stages of a cascade, and their guarantee.
class CascadeFile : public WithExactFile {
public:
    using WithExactFile::WithExactFile;

    // At most `budget` of rows drawn like the tested ones get another label than the exact model's, with this
    // confidence.
    double budget = 0, confidence = 0;
    std::int64_t tested = 0, differing = 0;  // rows
    std::vector<std::int32_t> features;
    std::vector<double> center;        // (features)
    double longest = 0;                // squared norm; longer rows go to the exact model
    std::vector<std::int64_t> chosen;  // rows of the vectors
    std::vector<CascadeStage> stages;

    std::size_t bytes() const override;
    const char* kind() const override { return "cascade"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::shared_ptr<Cascade> cascade() const;

protected:
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm

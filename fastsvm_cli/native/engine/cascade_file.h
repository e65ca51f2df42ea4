// Cascades: cheap stages, calibrated on rows, before the exact model (methods/cascade/guarantee.py). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ordered_file.h"
#include "models/cascade.h"

namespace fastsvm {

// At most `budget` of rows drawn like the tested ones get another label than the exact model's, with this confidence.
struct Guarantee {
    double budget, confidence;
    std::int64_t tested, differing;  // rows
};

// The stages of a cascade, as its file holds them.
struct CascadeStages {
    std::vector<std::int32_t> features;
    std::vector<double> center;        // (features)
    double longest;                    // squared norm; longer rows go to the exact model
    std::vector<std::int64_t> chosen;  // rows of the vectors
    std::vector<CascadeStage> stages;
};

// An exact model with the stages of a cascade, and their guarantee.
class CascadeFile : public WithExactFile {
public:
    // Throws std::invalid_argument.
    CascadeFile(std::shared_ptr<const LibsvmFile> exact, std::string fingerprint, const Guarantee& guarantee,
                CascadeStages parts);
    // text: from open_compiled. Throws ModelError.
    static std::unique_ptr<CompiledFile> read(std::string_view text);

    const Guarantee guarantee;
    const CascadeStages parts;

    std::size_t bytes() const override;
    const char* kind() const override { return "cascade"; }
    std::shared_ptr<Cascade> cascade() const;

protected:
    void write(std::string& out) const override;
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm

// Geometry models: intervals from a few kernel values (DeCoste, "Anytime Interval-Valued Outputs for Kernel Machines:
// Fast Support Vector Machine Classification via Distance Geometry"). Format: FORMAT.md; proof: PROOFS.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ordered_file.h"

namespace fastsvm {

// A LIBSVM model with points S_1..S_k, whose kernel values with a row bound its decision values.
class GeometryFile : public OrderedFile {
public:
    // b (k, pairs), squared_norm and b_error (pairs): models/geometry.h.
    struct Bounds {
        std::vector<double> b, squared_norm, b_error;
    };
    // all_vectors: the support vectors, then the folded ones, whose coefficients are 0. points: (k) rows of
    // all_vectors, in order of evaluation. Throws std::invalid_argument.
    GeometryFile(std::shared_ptr<const LibsvmFile> exact, std::string fingerprint, std::string sequence,
                 std::shared_ptr<const Rows> all_vectors, std::vector<std::int64_t> points, Bounds bounds);
    // text: from open_compiled. Throws ModelError.
    static std::unique_ptr<CompiledFile> read(std::string_view text);

    const std::string sequence;
    const std::shared_ptr<const Rows> all_vectors;
    const std::vector<std::int64_t> points;
    const Bounds bounds;

    const char* kind() const override { return "geometry"; }
    std::string ordered_by() const override;
    std::shared_ptr<Model> stopped_after(std::int64_t steps) const override;

protected:
    void write(std::string& out) const override;
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm

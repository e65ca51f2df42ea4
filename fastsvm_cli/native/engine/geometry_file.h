// Geometry models: intervals from a few kernel values (DeCoste, "Anytime Interval-Valued Outputs for Kernel Machines:
// Fast Support Vector Machine Classification via Distance Geometry"). Format: FORMAT.md; proof: PROOFS.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/ordered_file.h"

namespace fastsvm {

// A LIBSVM model with points S_1..S_k, whose kernel values with a row bound its decision values.
class GeometryFile : public OrderedFile {
public:
    using OrderedFile::OrderedFile;

    std::string sequence;
    std::shared_ptr<const Rows> all_vectors;  // the support vectors, then the folded ones, whose coefficients are 0
    std::vector<std::int64_t> points;         // (k) rows of all_vectors, in order of evaluation
    std::vector<double> b, squared_norm, b_error;  // (k, pairs), (pairs), (pairs): models/geometry.h

    const char* kind() const override { return "geometry"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::string ordered_by() const override;
    std::shared_ptr<Model> stopped_after(std::int64_t steps) const override;

protected:
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm

// Triangle models: support vectors ordered by distance from a pivot (Acevedo-Rodriguez et al., "Computational load
// reduction in decision functions using support vector machines"). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/ordered_file.h"

namespace fastsvm {

// A LIBSVM model with the pivots of its lists.
class TriangleFile : public OrderedFile {
public:
    using OrderedFile::OrderedFile;

    std::vector<std::int64_t> pivots;  // rows of the vectors, one per list

    const char* kind() const override { return "triangle"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::string ordered_by() const override;

protected:
    std::shared_ptr<Model> make_model() const override;
};

// Why the triangle inequality gives no bound; "" if the kernel decreases with distance.
std::string why_no_triangle(const Kernel& kernel);

}  // namespace fastsvm

// Triangle models: support vectors ordered by distance from a pivot (Acevedo-Rodriguez et al., "Computational load
// reduction in decision functions using support vector machines"). Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ordered_file.h"

namespace fastsvm {

// A LIBSVM model with the pivots of its lists.
class TriangleFile : public OrderedFile {
public:
    // pivots: rows of the vectors, one per list.
    TriangleFile(std::shared_ptr<const LibsvmFile> exact, std::string fingerprint, std::vector<std::int64_t> pivots)
        : OrderedFile(std::move(exact), std::move(fingerprint)), pivots(std::move(pivots)) {}
    // text: from open_compiled. Throws ModelError.
    static std::unique_ptr<CompiledFile> read(std::string_view text);

    const std::vector<std::int64_t> pivots;

    const char* kind() const override { return "triangle"; }
    std::string ordered_by() const override;

protected:
    void write(std::string& out) const override;
    std::shared_ptr<Model> make_model() const override;
};

// Why the triangle inequality gives no bound; "" if the kernel decreases with distance.
std::string why_no_triangle(const Kernel& kernel);

}  // namespace fastsvm

// Common parts of models that hold the exact one: triangle and geometry models, cascades. See FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compiled_text.h"
#include "engine/libsvm_file.h"
#include "engine/model_file.h"

namespace fastsvm {

// A compiled model whose file has the exact model's vectors.
class WithExactFile : public CompiledFile {
public:
    WithExactFile(std::shared_ptr<const LibsvmFile> exact, std::string fingerprint);

    const std::shared_ptr<const LibsvmFile> exact;

    std::shared_ptr<const Rows> support_vectors() const override { return exact->vectors; }
    std::vector<std::int32_t> used_indices() const override { return exact->used_indices(); }
    std::size_t bytes() const override { return exact->bytes(); }

protected:
    // Writes the kind's own keys, `lines`, and the vectors.
    void write_vectors(std::string& out, const std::string& lines) const;
};

// A LIBSVM model, and an order of kernel evaluations: a row stops when the rest of its sum cannot change the answer.
class OrderedFile : public WithExactFile {
public:
    using WithExactFile::WithExactFile;
    virtual std::string ordered_by() const = 0;  // a description

    bool proves() const override { return true; }
    bool ordered() const override { return true; }
};

// The text of such a file, read up to the vectors.
struct WithExactText {
    CompiledText file;  // after the vectors
    std::shared_ptr<const LibsvmFile> exact;
    std::shared_ptr<const Rows> all_vectors;  // the support vectors, then folded rows of the same form
    // Throws ModelError.
    static WithExactText read(std::string_view text, const std::vector<std::string>& own_keys);
};

inline constexpr const char* without_vectors =
    "a precomputed kernel found: name its vectors with --vectors and its kernel with --kernel";
// A kernel's name in model files.
std::string name_of(const Kernel& kernel);

}  // namespace fastsvm

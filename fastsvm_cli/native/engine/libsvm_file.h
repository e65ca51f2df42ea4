// LIBSVM models, with or without fastsvm's line after the support vectors, where LIBSVM stops reading.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/exact_model.h"
#include "engine/header.h"
#include "engine/model_file.h"
#include "exact/reference/rounding.h"
#include "text/rows.h"

namespace fastsvm {

// A LIBSVM model's file. fastsvm's line is for `origin` (a reduced set) or, without one, for `folded` that is not
// inherited; other models have no such line.
class LibsvmFile : public ModelFile {
public:
    LibsvmFile(Header header, std::shared_ptr<const Rows> vectors, const Kernel& kernel);
    // Throws ModelError.
    static std::unique_ptr<LibsvmFile> read(std::string_view text);

    const std::shared_ptr<const Rows> vectors;  // with coefficients; each is `0:serial` for a precomputed kernel
    const Kernel kernel;                        // the header's or, if precomputed, one to evaluate on known vectors
    // Of a reduced set; without gamma and rho, which are the model's.
    std::optional<Origin> origin;

    // The same model without fastsvm's line.
    std::shared_ptr<LibsvmFile> plain() const { return std::make_shared<LibsvmFile>(header, vectors, kernel); }
    // The mark that a model compiled from it takes raw rows.
    std::optional<FoldedScaling> inheritance() const {
        return folded ? std::optional<FoldedScaling>({folded->digest, true}) : std::nullopt;
    }
    SvmModel svm_model() const;
    std::shared_ptr<ExactModel> exact_model() const { return std::static_pointer_cast<ExactModel>(model()); }

    const char* kind() const override { return "LIBSVM"; }
    std::string to_text() const override;
    bool proves() const override { return true; }
    bool certified() const override { return origin.has_value(); }
    bool serials() const override { return kernel.type == KernelType::precomputed; }
    std::shared_ptr<const Rows> support_vectors() const override { return vectors; }
    std::vector<std::int32_t> used_indices() const override;
    std::size_t bytes() const override { return bytes_of(*vectors); }

protected:
    std::shared_ptr<Model> make_model() const override;
    std::int64_t own_max_index() const override;
};

// Largest serial of a precomputed kernel's vectors.
std::int64_t largest_serial(const Rows& vectors);

// The kernel that a header names.
Kernel kernel_of(const Header& header);

}  // namespace fastsvm

// LIBSVM models, with or without fastsvm's line after the support vectors, where LIBSVM stops reading.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/header.h"
#include "engine/model.h"
#include "exact/exact.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "text/rows.h"

namespace fastsvm {

// A LIBSVM model of any svm_type, kernel and number of classes. Radii cover rounding only. If indices of vectors do not
// increase, LIBSVM's kernel values depend on their order: the reference sum answers every row.
class ExactModel : public Model {
public:
    // Up to this number of rows, evaluation without the evaluator costs less than building it.
    static constexpr std::int64_t few_rows = 16;
    ExactModel(Header header, SvmModel model);
    void decision_values(const Rows& rows, const Precision& precision, Decisions& out) const override;
    void reference_values(const Rows& rows, Decisions& out) const override;
    Decisions decisions(const Precision& precision, bool with_radius) const override;
    bool too_few(std::int64_t rows) const override;
    // Built on first use, which may take seconds.
    const Exact& evaluator() const;
    const SvmModel& svm_model() const { return model_; }

private:
    void require_serials(const Rows& rows) const;
    const SvmModel model_;
    mutable std::once_flag once_;
    mutable std::atomic<std::int64_t> left_{few_rows};  // rows left to evaluate without the evaluator
    mutable std::unique_ptr<const Exact> evaluator_;
};

// A reduced set, which is a LIBSVM model too. Without radii, values are svm-predict's for this file. Radii bound the
// distance from the origin, the exact model.
class ReducedModel : public ExactModel {
public:
    // origin: the exact model's, without gamma and rho.
    ReducedModel(Header header, SvmModel model, Origin origin);
    void decision_values(const Rows& rows, const Precision& precision, Decisions& out) const override;
    void reference_values(const Rows& rows, Decisions& out) const override;

private:
    void widen_radii(const Rows& rows, Decisions& out) const;
    Origin own_, origin_;
};

// Returns a reduced set as an ExactModel, and other models unchanged.
std::shared_ptr<const Model> plain(const std::shared_ptr<const Model>& model);

// A LIBSVM model's file. fastsvm's line is for `origin` (a reduced set) or, without one, for `folded` that is not
// inherited; other models have no such line.
class LibsvmFile : public ModelFile {
public:
    LibsvmFile(Header header, std::shared_ptr<const Rows> vectors, const Kernel& kernel);
    // Throws ModelError.
    static std::unique_ptr<LibsvmFile> read(std::string_view text);

    const std::shared_ptr<const Rows> vectors;  // with coefficients; each is `0:serial` for a precomputed kernel
    const Kernel kernel;                        // the header's or, if precomputed, one to evaluate on known vectors
    // The exact model of a reduced set; without gamma and rho, which are the model's.
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

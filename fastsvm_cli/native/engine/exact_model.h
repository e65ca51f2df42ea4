// Exact models and reduced sets as models that answer rows.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/model.h"
#include "exact/exact.h"
#include "exact/reference/rounding.h"
#include "exact/reference/svm_model.h"

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

}  // namespace fastsvm

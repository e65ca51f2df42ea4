// LIBSVM's own models, and reduced sets, which are LIBSVM models too.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/model.h"
#include "exact/exact.h"
#include "exact/rounding.h"
#include "exact/svm_model.h"

namespace fastsvm {

// Every svm_type, every kernel, any number of classes. The radius of a decision value is that of rounding alone.
class ExactModel : public Model {
public:
    // The evaluator takes about as long to be made as so many rows take without it.
    static constexpr std::int64_t few_rows = 16;
    // model: of that header.
    ExactModel(Header header, SvmModel model);
    void decision_values(const Rows& rows, const Wanted& wanted, Decisions& out) const override;
    void reference_values(const Rows& rows, Decisions& out) const override;
    Decisions decisions(const Wanted& wanted, bool with_radius) const override;
    bool too_few(std::int64_t rows) const override;
    // Made when the first row needs it, which may take seconds.
    const Exact& evaluator() const;
    const SvmModel& svm_model() const { return model_; }

private:
    void demand_serials(const Rows& rows) const;
    const SvmModel model_;
    mutable std::once_flag once_;
    mutable std::atomic<std::int64_t> left_{few_rows};  // rows that may be answered before the evaluator is made
    mutable std::unique_ptr<const Exact> evaluator_;
};

// Asked for values alone, it gives those that svm-predict computes with its file. Asked for radii, it is a compiled
// model: they are of the exact model it came from.
class ReducedModel : public ExactModel {
public:
    // origin: the exact model's, without gamma and rho.
    ReducedModel(Header header, SvmModel model, Origin origin);
    void decision_values(const Rows& rows, const Wanted& wanted, Decisions& out) const override;
    void reference_values(const Rows& rows, Decisions& out) const override;

private:
    void widen_radii(const Rows& rows, Decisions& out) const;
    Origin own_, origin_;
};

// The model by itself: a reduced set's without what it came from.
std::shared_ptr<const Model> plain(const std::shared_ptr<const Model>& model);

// The numbers of a LIBSVM model, for the core. kernel: the header's, or that of the vectors after a precomputed one.
SvmModel svm_model_of(const Header& header, const Kernel& kernel, std::shared_ptr<const Rows> vectors);

}  // namespace fastsvm

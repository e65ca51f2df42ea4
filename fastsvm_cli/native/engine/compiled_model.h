// Compiled models that evaluate all rows alike (Maclaurin, border and density models).
#pragma once
#include <memory>
#include <utility>

#include "engine/model.h"

namespace fastsvm {

// The Model of an Evaluator, whose decision_values(rows, out) is thread-safe.
template <class Evaluator> class CompiledModel : public Model {
public:
    CompiledModel(Header header, std::shared_ptr<const Evaluator> evaluator)
        : Model(std::move(header)), evaluator_(std::move(evaluator)) {}
    void decision_values(const Rows& rows, const Precision&, Decisions& out) const override {
        evaluator_->decision_values(rows, out);
    }

private:
    const std::shared_ptr<const Evaluator> evaluator_;
};

}  // namespace fastsvm

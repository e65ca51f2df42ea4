// Compiled models that evaluate all rows alike: expansions, border samples, density estimates.
#pragma once
#include <memory>
#include <stdexcept>
#include <utility>

#include "engine/model.h"
#include "text/factors.h"

namespace fastsvm {

// Throws RowFault if a product overflows.
Rows multiplied(const Factors& factors, const Rows& rows);

// factors: multiply raw rows before evaluation; or null.
template <class Evaluator> class CompiledModel : public Model {
public:
    CompiledModel(Header header, std::shared_ptr<const Evaluator> evaluator, std::shared_ptr<const Factors> factors)
        : Model(std::move(header)), evaluator_(std::move(evaluator)), factors_(std::move(factors)) {}
    void decision_values(const Rows& rows, const Wanted&, Decisions& out) const override {
        if (factors_)
            evaluator_->decision_values(multiplied(*factors_, rows), out);
        else
            evaluator_->decision_values(rows, out);
    }

private:
    const std::shared_ptr<const Evaluator> evaluator_;
    const std::shared_ptr<const Factors> factors_;
};

}  // namespace fastsvm

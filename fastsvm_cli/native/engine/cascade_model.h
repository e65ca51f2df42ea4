#pragma once
#include <memory>
#include <vector>

#include "engine/exact_model.h"
#include "engine/model.h"
#include "models/cascade.h"

namespace fastsvm {

// Labels of the cascade, and of the exact model for rows that it leaves; everything else is the exact model's.
class CascadeModel : public Model {
public:
    CascadeModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const Cascade> cascade);
    void decision_values(const Rows& rows, const Wanted& wanted, Decisions& out) const override;
    Decisions decisions(const Wanted& wanted, bool with_radius) const override;

private:
    const std::shared_ptr<const ExactModel> exact_;
    const std::shared_ptr<const Cascade> cascade_;
};

}  // namespace fastsvm

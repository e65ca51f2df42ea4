#include "engine/ordered_model.h"

#include <utility>

namespace fastsvm {

OrderedModel::OrderedModel(std::shared_ptr<const ExactModel> exact) : Model(exact->header), exact_(std::move(exact)) {
    proves = ordered = true;
}

void OrderedModel::decision_values(const Rows& rows, const Precision& precision, Decisions& out) const {
    if (precision.in_full(header.regression())) return exact_values(rows, precision, out);
    const std::vector<std::int64_t> left = decide(rows, task, precision.tolerance.value_or(0), 0, out);
    if (left.empty()) return;
    const Rows part = select_rows(rows, left);
    if (!precision.tolerance && elects() && !out.with_radius) {
        // Labels only, from the cheapest sufficient level.
        Decisions winners(pairs(), false, true);
        exact_values(part, precision, winners);
        out.elect(left, winners);
        return;
    }
    Decisions again(pairs(), true);
    if (!precision.tolerance) {
        exact_values(part, precision, again);
    } else {
        exact_->evaluator().fast_values(part, again);
        // Rounding leaves these rows open: use LIBSVM's order of operations.
        std::vector<std::int64_t> far;
        for (std::int64_t row = 0; row < part.rows; ++row)
            if (!(again.radius[static_cast<std::size_t>(row * pairs())] <= *precision.tolerance)) far.push_back(row);
        if (!far.empty()) {
            Decisions only(pairs());
            reference_values(select_rows(part, far), only);
            only.reference_rows = static_cast<std::int64_t>(far.size());
            again.put(far, only);
        }
        again.count(header.total_sv);
    }
    out.put(left, again);
}

void OrderedModel::reference_values(const Rows& rows, Decisions& out) const {
    exact_->reference_values(rows, out);
    out.count(header.total_sv);
}

std::shared_ptr<Model> GeometryModel::stopped_after(std::int64_t steps) const {
    return std::make_shared<StoppedGeometry>(header, points_, steps);
}

void OrderedModel::exact_values(const Rows& rows, const Precision& precision, Decisions& out) const {
    exact_->decision_values(rows, precision, out);
    out.count(header.total_sv);
}

}  // namespace fastsvm

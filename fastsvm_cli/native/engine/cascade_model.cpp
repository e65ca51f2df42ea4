#include "engine/cascade_model.h"

#include <utility>

namespace fastsvm {

CascadeModel::CascadeModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const Cascade> cascade)
    : Model(exact->header), exact_(std::move(exact)), cascade_(std::move(cascade)) {}

Decisions CascadeModel::decisions(const Wanted& wanted, bool with_radius) const {
    return exact_->decisions(wanted, with_radius);
}

void CascadeModel::decision_values(const Rows& rows, const Wanted& wanted, Decisions& out) const {
    if (!out.labels_alone) return exact_->decision_values(rows, wanted, out);
    out.resize(rows.rows);
    std::vector<std::int64_t> stopped(cascade_->stages().size());
    cascade_->label(rows, out.winner.data(), stopped.data());
    std::vector<std::int64_t> left;
    for (std::int64_t row = 0; row < rows.rows; ++row)
        if (out.winner[static_cast<std::size_t>(row)] < 0) left.push_back(row);
    if (left.empty()) return;
    Decisions rest(pairs(), false, true);
    exact_->decision_values(select_rows(rows, left), wanted, rest);
    for (std::size_t i = 0; i < left.size(); ++i) out.winner[static_cast<std::size_t>(left[i])] = rest.winner[i];
    out.rung_rows = rest.rung_rows;
    out.reference_rows = rest.reference_rows;
}

}  // namespace fastsvm

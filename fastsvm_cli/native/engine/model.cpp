#include "engine/model.h"

#include <algorithm>

namespace fastsvm {

Task task_of(const Header& header) {
    const auto type = std::find(svm_type_names.begin(), svm_type_names.end(), header.svm_type);
    return {static_cast<SvmType>(type - svm_type_names.begin()), header.label.value_or(std::vector<int>()),
            header.prob_a.value_or(std::vector<double>()), header.prob_b.value_or(std::vector<double>()),
            header.prob_density_marks.value_or(std::vector<double>())};
}

void Model::reference_values(const Rows&, Decisions&) const {
    throw std::logic_error("reference values of a model that proves nothing");
}

Decisions Model::decisions(const Precision&, bool with_radius) const { return Decisions(pairs(), with_radius); }

}  // namespace fastsvm

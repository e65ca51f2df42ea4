// Interface of exact and compiled models.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "answers/decisions.h"
#include "answers/predictions.h"
#include "engine/header.h"
#include "engine/precision.h"
#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

// A row that the model cannot evaluate.
struct RowError : std::runtime_error {
    RowError(std::int64_t row, const std::string& why) : std::runtime_error(why), row(row) {}
    std::int64_t row;
};

// The part of a header that predictions need.
inline Task task_of(const Header& header) {
    const auto type = std::find(svm_type_names.begin(), svm_type_names.end(), header.svm_type);
    return {static_cast<SvmType>(type - svm_type_names.begin()), header.label.value_or(std::vector<int>()),
            header.prob_a.value_or(std::vector<double>()), header.prob_b.value_or(std::vector<double>()),
            header.prob_density_marks.value_or(std::vector<double>())};
}

// A model that answers rows. Immutable, thread-safe. The flags are independent.
class Model {
public:
    explicit Model(Header header) : header(std::move(header)), task(task_of(this->header)) {}
    Model(const Model&) = delete;
    virtual ~Model() = default;

    const Header header;
    const Task task;
    std::string fingerprint;  // of the exact model's file; empty if this is exact
    bool proves = false;      // labels are always svm-predict's, reference_values its numbers
    bool certified = false;   // compiled, with radii around the exact model's values
    bool ordered = false;     // stops early on some rows; counts evaluations
    // Only the bound of Claesen et al., eq. (3.11), relates values to the exact ones: RBF expansions of degree 2
    // without radii.
    bool judged_by_bound = false;
    // With a range of y, values y become to + (y - from) * scale.
    std::optional<Scaling::LabelsBack> labels_back;

    std::int64_t pairs() const { return header.pairs(); }
    bool elects() const { return header.elects(); }

    // Fills `out` at least as precisely as precision: values with rho subtracted, and radii if any. A row's values
    // depend on that row only. Throws RowError.
    virtual void decision_values(const Rows& rows, const Precision& precision, Decisions& out) const = 0;
    // Values in LIBSVM's order of operations, bit for bit; slower. Needs `proves`. Throws RowError.
    virtual void reference_values(const Rows&, Decisions&) const {
        throw std::logic_error("reference values of a model that proves nothing");
    }
    // Makes the output for decision_values. Kinds that find labels without all values override it: for labels alone, it
    // holds winners.
    virtual Decisions decisions(const Precision&, bool with_radius) const { return Decisions(pairs(), with_radius); }

    // Whether reference_values is faster for so few rows, since decision_values first builds its layout. Needs
    // `proves`.
    virtual bool too_few(std::int64_t rows) const { return (void)rows, false; }

    // Converts values and radii to the unit of raw labels.
    void answer(Decisions& out) const {
        if (labels_back) out.map_values(labels_back->from, labels_back->scale, labels_back->to);
    }
    // Converts a regression tolerance to the unit before answer().
    double before(double tolerance) const { return labels_back ? tolerance / labels_back->scale : tolerance; }
};

}  // namespace fastsvm

// The model interface: computes decision values, exact or compiled.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "answers/decisions.h"
#include "answers/predictions.h"
#include "engine/header.h"
#include "engine/wanted.h"
#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

// A row that the model cannot evaluate.
struct RowFault : std::runtime_error {
    RowFault(std::int64_t row, const std::string& why) : std::runtime_error(why), row(row) {}
    std::int64_t row;
};

Task task_of(const Header& header);

// Immutable, thread-safe. The flags are independent.
class Model {
public:
    explicit Model(Header header) : header(std::move(header)), task(task_of(this->header)) {}
    Model(const Model&) = delete;
    virtual ~Model() = default;

    const Header header;
    const Task task;
    std::string fingerprint;  // of its exact model's file; empty if it is exact
    bool proves = false;      // decision values always give svm-predict's label; reference_values are its numbers
    bool certified = false;   // compiled, with radii around the exact model's values
    bool ordered = false;     // stops early on some rows, and counts evaluations
    // Whether only the bound of Claesen et al., eq. (3.11), relates its values to the exact ones: RBF expansions of
    // degree 2, without radii.
    bool judged_by_bound = false;
    // Values y become to + (y - from) * scale, for a model with a range of y.
    std::optional<Scaling::LabelsBack> labels_back;

    std::int64_t pairs() const { return header.pairs(); }
    // Whether an answer is one of at least two labels.
    bool elects() const { return (header.classification() && header.nr_class > 1) || header.svm_type == "one_class"; }

    // Fills `out` at least as precisely as wanted: values with rho subtracted, and radii if any. A row's values depend
    // on it alone. Throws RowFault.
    virtual void decision_values(const Rows& rows, const Wanted& wanted, Decisions& out) const = 0;
    // Values in LIBSVM's own order of operations, bit for bit; slower. Needs `proves`. Throws RowFault.
    virtual void reference_values(const Rows& rows, Decisions& out) const;
    // Output for decision_values. A kind that finds classes without all values overrides it: for labels alone, a winner
    // instead of values.
    virtual Decisions decisions(const Wanted& wanted, bool with_radius) const;

    // Whether reference_values is faster for so few rows, as decision_values must first build its layout. Needs
    // `proves`.
    virtual bool too_few(std::int64_t rows) const { return (void)rows, false; }

    // Converts values and radii to raw labels' unit.
    void answer(Decisions& out) const {
        if (labels_back) out.map_values(labels_back->from, labels_back->scale, labels_back->to);
    }
    // A regression tolerance in the unit of the values before answer().
    double before(double tolerance) const { return labels_back ? tolerance / labels_back->scale : tolerance; }
};

}  // namespace fastsvm

// The contract of a model: a kernel machine, exact or compiled, that answers rows with decision values.
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

// A row that a model cannot evaluate.
struct RowFault : std::runtime_error {
    RowFault(std::int64_t row, const std::string& why) : std::runtime_error(why), row(row) {}
    std::int64_t row;
};

Task task_of(const Header& header);

// Immutable once it is made, and safe from any number of threads. What its flags say is independent of each other.
class Model {
public:
    explicit Model(Header header) : header(std::move(header)), task(task_of(this->header)) {}
    Model(const Model&) = delete;
    virtual ~Model() = default;

    const Header header;
    const Task task;
    std::string fingerprint;  // of the exact model's file that it was compiled from; empty: it is an exact model itself
    bool proves = false;      // its decision values always decide svm-predict's label; reference_values are its numbers
    bool certified = false;   // it was compiled, and fills radii about the exact model's values
    bool ordered = false;     // it stops early on some rows, and counts the kernel evaluations of all
    // Whether the rows outside the bound of Claesen et al., eq. (3.11), are all that is known of how near its values
    // are to the exact model's: of RBF expansions of degree 2, the bound's, without radii.
    bool judged_by_bound = false;
    // Where a value y is answered as to + (y - from) * scale: of a model that carries a range of y.
    std::optional<Scaling::LabelsBack> labels_back;

    std::int64_t pairs() const { return header.pairs(); }
    // Whether an answer is one of at least two labels.
    bool elects() const { return (header.classification() && header.nr_class > 1) || header.svm_type == "one_class"; }

    // Fills `out` for the rows, at least as precisely as is wanted: values with rho subtracted, and radii if it has
    // them. A row's values depend on that row alone. Throws RowFault.
    virtual void decision_values(const Rows& rows, const Wanted& wanted, Decisions& out) const = 0;
    // Of a model that proves: decision values in LIBSVM's own order of operations, bit for bit; slower. Throws
    // RowFault.
    virtual void reference_values(const Rows& rows, Decisions& out) const;
    // What decision_values is to fill. A kind that can tell each row's class without all values makes other ones where
    // labels alone are wanted: a winner in place of values.
    virtual Decisions decisions(const Wanted& wanted, bool with_radius) const;

    // Whether so few rows are better evaluated by reference_values, as what decision_values needs is not laid out yet,
    // and takes longer to be. Of a model that proves.
    virtual bool too_few(std::int64_t rows) const { return (void)rows, false; }

    // Decision values and radii in the unit of raw labels.
    void answer(Decisions& out) const {
        if (labels_back) out.map_values(labels_back->from, labels_back->scale, labels_back->to);
    }
    // A regression's tolerance before that.
    double before(double tolerance) const { return labels_back ? tolerance / labels_back->scale : tolerance; }
};

}  // namespace fastsvm

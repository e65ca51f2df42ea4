// Interface of exact and compiled models, the required precision, and files of compiled kinds.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "engine/archive.h"
#include "engine/checksum.h"
#include "engine/header.h"
#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

// Required precision: labels, values within a tolerance, or values. Models that stop early, or start in lower
// precision, continue until they have it; others may give more.
struct Precision {
    using Side = std::pair<double, double>;  // value, margin
    std::optional<double> tolerance;         // largest distance from svm-predict's values; regression only
    // Values up to rounding, and labels. Each (value, margin) is a threshold, as zero is, anywhere within its margin.
    // One decision function only.
    std::optional<std::vector<Side>> sides;
    // With `sides`: sigmoids of all pairs. A model that proves labels returns values whose probabilities print as
    // svm-predict's.
    std::optional<Odds> odds;

    bool labels_alone() const { return !tolerance && !sides; }
    // Whether values are required up to rounding.
    bool in_full(bool regression) const { return sides.has_value() || (regression && !tolerance); }
};

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

// A model as its file holds it: the fields, the text, and the model that answers rows. A class per kind derives from
// this, and is listed in `compiled_kinds` (kind.h).

// Something in a model that LIBSVM reads, and its writer may not have meant: line of the file, text.
using ModelNote = std::pair<std::int64_t, std::string>;

// The range file, then e1071's y scale file, that a model applies to raw rows; in the file of a compiled one.
struct EmbeddedRange {
    std::vector<std::string> texts;          // or empty
    std::shared_ptr<const Scaling> scaling;  // or null
};

// Immutable once its fields are set, except for its embedded range.
class ModelFile {
public:
    explicit ModelFile(Header header) : header(std::move(header)) {}
    ModelFile(const ModelFile&) = delete;
    virtual ~ModelFile() = default;

    const Header header;
    std::string fingerprint;  // of the exact model's file or the training rows; empty for a plain LIBSVM model
    std::optional<FoldedScaling> folded;
    std::vector<ModelNote> notes;

    virtual const char* kind() const = 0;  // name in the file's first line, or LIBSVM
    virtual std::string to_text() const = 0;
    // The model that answers rows, built on first use. Thread-safe.
    std::shared_ptr<Model> model() const;
    // From now on it applies this to raw rows. scaling: null for none.
    void embed(EmbeddedRange embedded);
    const EmbeddedRange& embedded() const { return embedded_; }
    // A model that uses only the first `steps` points; null for other kinds.
    virtual std::shared_ptr<Model> stopped_after(std::int64_t steps) const { return (void)steps, nullptr; }

    // As in Model.
    virtual bool proves() const { return false; }
    virtual bool certified() const { return false; }
    virtual bool ordered() const { return false; }
    // All support vectors, or null if the model does not have them all.
    virtual std::shared_ptr<const Rows> support_vectors() const { return nullptr; }
    // The LIBSVM model that it holds, or null.
    virtual std::shared_ptr<const ModelFile> exact_model_file() const { return nullptr; }
    // LIBSVM indices of its numbers, increasing.
    virtual std::vector<std::int32_t> used_indices() const = 0;
    // The largest, also of the range, 0 if none; for a precomputed kernel the largest serial.
    std::int64_t max_index() const;
    // LIBSVM index of column 0 of dense rows: 0 if the model, or its embedded range, knows feature 0, else 1.
    std::int32_t first_index() const;
    // Why it takes raw rows, as the end of a sentence; or "".
    std::string raw_rows() const;
    // Whether its rows hold kernel values (precomputed kernel).
    virtual bool serials() const { return false; }
    // Whether it has RBF expansions, which eq. (3.11) of Claesen et al. bounds, and whether only that, for degree 2,
    // judges its values' errors.
    virtual bool bounded() const { return false; }
    virtual bool judged_by_bound() const { return false; }
    virtual std::size_t bytes() const = 0;  // approximate size in memory
    // Message of `fastsvm bound` for a model without vectors, centers or radii.
    virtual std::string unbounded() const;

protected:
    virtual std::shared_ptr<Model> make_model() const = 0;
    virtual std::int64_t own_max_index() const;

private:
    std::optional<Scaling::LabelsBack> labels_back() const;
    EmbeddedRange embedded_;
    mutable std::once_flag once_;
    mutable std::shared_ptr<Model> model_;
};

// A compiled model's file. A kind names its fields once, for reading, writing and checks (archive.h).
class CompiledFile : public ModelFile {
public:
    using ModelFile::ModelFile;
    std::string to_text() const final;
    // The line between the header and the body.
    virtual const char* body_word() const = 0;
    // The lines of the header that belong to the kind.
    virtual void keys(Archive& archive) = 0;
    // The lines from the header to the embedded range.
    virtual void body(Archive& archive) = 0;
    // Throws std::invalid_argument unless there are as many numbers as the other fields say.
    void check();
};

// A compiled model that evaluates all rows alike, by an Evaluator whose decision_values(rows, out) is thread-safe.
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

// Why a model cannot embed a scaling. of_model: the model does not suit, rather than the range file.
struct EmbeddingError {
    std::string why;
    bool of_model = false;
};
// Returns why not, or none. model: null if it is to be made from training rows with classes. name: of the range file.
std::optional<EmbeddingError> embedding_error(const Scaling& scaling, const ModelFile* model, const std::string& name);

// Reads a compiled model's embedded texts, one or two. Throws ModelError.
Scaling read_embedded(const std::vector<RangeText>& ranges);

// Approximate size of rows in memory.
std::size_t bytes_of(const Rows& rows);

}  // namespace fastsvm

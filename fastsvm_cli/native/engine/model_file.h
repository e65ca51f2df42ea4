// A model as its file holds it: the fields, the text, and the model that answers rows. A class per kind derives from
// this, and is listed in `compiled_kinds` (kind.h).
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/archive.h"
#include "engine/checksum.h"
#include "engine/header.h"
#include "engine/model.h"
#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

// Something in a model that LIBSVM reads, and its writer may not have meant. line: of the file.
struct ModelNote {
    std::int64_t line;
    std::string text;
};

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

// Interface of exact and compiled models, the required precision, and files of models.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "engine/checksum.h"
#include "engine/header.h"
#include "text/parse.h"
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

// Key of models compiled from a LIBSVM model of raw rows: the fingerprint of the range file folded into that.
inline const std::string raw_rows_key = "raw_rows";

// Scaling in a LIBSVM model that takes raw rows, as do models compiled from it.
struct FoldedScaling {
    std::string digest;      // fingerprint of the file of --scale
    bool inherited = false;  // of the LIBSVM model that this one was compiled from and whose labels it proves
};

// The text after a header. Readers advance `at`.
class Body {
public:
    // text: the whole file; must outlive this.
    Body(std::string_view text, std::size_t at) : text(text), at(at) {}

    // Reads the header's support vectors, then `more` rows. any_order: see Format.
    Rows vectors(const Header& header, std::int64_t more = 0, bool any_order = false);
    // Reads the numbers of the next line, which has `word`, then `fields` whole numbers of 0 or more.
    std::vector<std::int64_t> record(const std::string& word, std::size_t fields = 0);
    // Whether the next line begins with this word.
    bool begins_with(const std::string& word) const;
    [[noreturn]] void fail(const std::string& why, std::size_t where) const;
    std::int64_t line() const { return line_at(text, at); }

    std::string_view text;
    std::size_t at;
};

// A kind names its fields in the order of its file: first the lines of the header, `key words`, then the body. For
// each, the archive does its work: it collects the header's keys, reads the field, writes it, or checks its size.
class Archive {
public:
    enum class Work { collect, read, write, check };
    explicit Archive(Work work) : work_(work) {}
    // To read. text: from open_compiled. Reads the header, which has the collected keys, up to the line `last`.
    Archive(std::string_view text, const std::string& last, const Archive& collected);

    bool reads() const { return work_ == Work::read; }
    bool writes() const { return work_ == Work::write; }
    bool checks() const { return work_ == Work::check; }
    const Header& header() const { return header_; }  // as it was read
    std::string& written() { return written_; }

    // Whether an optional line of the header follows. present: whether the fields have it.
    bool has(const std::string& key, bool present);
    // A line of the header. Returns the words that were read; null for other work.
    const KeyWords* key(const std::string& key, const std::string& words);
    // A word, a number or numbers.
    template <class Value> void field(const std::string& key, Value& value) {
        if (const KeyWords* const found = this->key(key, in_header(value))) read_words(key, *found, value);
    }
    // Exactly `count` numbers.
    template <class Number> void field(const std::string& key, std::vector<Number>& numbers, std::int64_t count) {
        if (reads()) check_count(key, count);
        field(key, numbers);
    }
    // A whole number, from `least` to `most` if given.
    void whole(const std::string& key, int& number, int least, std::optional<int> most = {});
    // The number of elements that follow in the body. size: of the field.
    void size(const std::string& key, std::size_t size, int least = 0);
    // The line `features`: 1:3 7 for 1 2 3 7.
    void features(std::vector<std::int32_t>& features);
    void precision(bool& single);
    // The scaling that raw_rows_key names, if any.
    void raw_rows(std::optional<FoldedScaling>& folded);

    // The number that `size` was given or read for this key; 0 without one.
    std::int64_t count(const std::string& key) const;
    // The elements that `size` counts: visit(element) for each.
    template <class T, class Visit> void each(const std::string& key, std::vector<T>& all, Visit visit) {
        if (!reads())
            for (T& element : all) visit(element);
        for (std::int64_t i = 0; reads() && i < count(key); ++i) visit(all.emplace_back());
    }
    template <class T, class Visit>
    void each(const std::string& key, std::vector<std::shared_ptr<T>>& all, Visit visit) {
        if (!reads())
            for (const std::shared_ptr<T>& element : all) visit(*element);
        for (std::int64_t i = 0; reads() && i < count(key); ++i) visit(*all.emplace_back(std::make_shared<T>()));
    }
    // A line: a word, and whole numbers of 0 or more.
    void record(const std::string& word, const std::vector<std::int64_t*>& numbers = {});
    // Whether an optional line follows that begins with this word. present: as in `has`.
    bool begins_with(const std::string& word, bool present) const;
    void number(double& number);
    // lines: of `per_line` numbers each. single: in single precision.
    void numbers(std::vector<double>& numbers, std::int64_t lines, std::int64_t per_line, bool single = false);
    // A line of this many numbers each.
    void numbers(std::vector<double>& numbers, const std::vector<std::int64_t>& lengths, bool single);
    // A line of whole numbers from 0 to limit - 1.
    void whole_numbers(std::vector<std::int64_t>& numbers, std::int64_t count, std::int64_t limit);
    // Data rows.
    void rows(std::shared_ptr<const Rows>& rows, std::int64_t count);
    // The body's end. after: the part before it, for the message.
    void end(const std::string& after = "");

    // Only to read. at: the position in the text.
    Body& body() { return *body_; }
    std::size_t at() const { return body_ ? body_->at : 0; }
    [[noreturn]] void fail(const std::string& key, const std::string& why) const;
    [[noreturn]] void fail_header(const std::string& why) const;  // in its last line

private:
    // Reads the next `count` numbers, which fill whole lines. single: they must be in single precision's range.
    std::vector<double> read(std::int64_t count, bool single = false);
    void check_count(const std::string& key, std::int64_t count) const;

    const Work work_;
    std::string written_;
    std::vector<std::string> required_, optional_;  // collected keys
    Header header_;
    std::map<std::string, KeyWords> own_;  // the header's keys that belong to the kind
    std::int64_t header_end_ = 0;          // number of the header's last line
    std::optional<Body> body_;
    std::map<std::string, std::int64_t> counts_;
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

// A compiled model's file. A kind names its fields once, for reading, writing and checks.
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

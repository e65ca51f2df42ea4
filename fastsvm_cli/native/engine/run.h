// A run: answers the rows of a source, writes lines in order, and counts.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "answers/predictions.h"
#include "engine/answers.h"
#include "engine/line_blocks.h"
#include "engine/model.h"

namespace fastsvm {

// A malformed line, or a row that cannot be evaluated. Earlier rows were answered.
struct RunError : std::runtime_error {
    explicit RunError(const RowProblem& problem) : std::runtime_error(problem.second), line(problem.first) {}
    std::int64_t line;
};

// Counts of rows by their smallest and largest features.
struct FeatureCounts {
    std::int64_t beyond = 0;   // rows with features beyond `most` of add()
    std::int64_t zero = 0;     // rows with a feature 0
    std::int32_t largest = 0;  // of all rows

    void add(const Rows& rows, std::int32_t most);
};

// The counts of a run; unknown_labels and score are of labelled rows.
struct RunCounts : RowCounts {
    explicit RunCounts(bool labelled = true) : labelled(labelled) {}
    bool labelled;
    std::int64_t rows = 0;
    UnknownLabels unknown_labels;
    FeatureCounts features;
    Score score;

    void add(const Answer& answer, const ResolvedOptions& resolved);
    // Calls visit(name, number) for each number, in the order of stored records.
    template <class Visit> void visit(Visit visit) {
        visit("rows", rows);
        visit("outside", outside);
        visit("evaluated", evaluated);
        visit("reference_rows", reference_rows);
        visit("kernel_evaluations", kernel_evaluations);
        visit("undecided", undecided);
        visit("audited", audited);
        visit("audit_differing", audit_differing);
        visit("grid_rows", level_rows[grid_level]);
        visit("single_rows", level_rows[single_level]);
        visit("double_rows", level_rows[double_level]);
        visit("unknown_labels", unknown_labels.rows);
        visit("zero_labels", unknown_labels.zeros);
        visit("rows_beyond", features.beyond);
        visit("rows_with_zero", features.zero);
        visit("largest_feature", features.largest);
        if (!labelled) return;
        visit("correct", score.correct);
        visit("total", score.total);
        visit("error", score.error);
        visit("sump", score.sump);
        visit("sumt", score.sumt);
        visit("sumpp", score.sumpp);
        visit("sumtt", score.sumtt);
        visit("sumpt", score.sumpt);
    }
};

// Outputs of a run, called on its calling thread. Their exceptions end it.
struct Outputs {
    using Write = std::function<void(const std::string&)>;
    Write lines;
    // Open rows, and rows outside the bound, as LIBSVM data with line numbers. May be null.
    Write open_rows, outside_rows;
    std::function<void()> before_writing;  // may be null
    std::function<void()> after_chunk;     // called after the lines of a chunk; may be null
};

// Answers rows and writes lines in order. Memory does not grow with the input. No thread outlives a call. Throws
// RunError, and exceptions of the stream and the outputs.
class Run {
public:
    // bad_rows: if null, the first bad row is an error. predictor, run_counts, bad_rows: must outlive this.
    Run(const Predictor& predictor, Outputs outputs, RunCounts& run_counts, BadRows* bad_rows);
    // Writes the line before the first row, if any.
    void begin();
    // Answers a chunk's rows, on all threads.
    void answer(const std::shared_ptr<const Rows>& rows);
    // Answers rows of text; every thread parses and answers a block at a time.
    void answer(LineBlocks& blocks);

private:
    class WorkerThreads;
    void finish(const Answer& answer);
    std::string numbered(const Rows& rows, const std::vector<std::int64_t>& which) const;

    const Predictor& predictor_;
    const Outputs outputs_;
    RunCounts& run_counts_;
    BadRows* const bad_rows_;
};

// The texts of predict besides its output lines: scores, notes and warnings.

// svm-predict's lines before the first row.
std::vector<std::string> opening_lines(const ResolvedOptions& resolved);

// Note on --exact with probabilities of more than two classes; "" otherwise.
std::string opening_note(const ResolvedOptions& resolved);

// The accuracy, or the mean squared error and the squared correlation; NaN or infinite as in C.
std::vector<double> scores(const Header& printed, const Score& score);

// svm-predict 3.37's lines after the last row.
std::vector<std::string> score_lines(const Header& printed, const Score& score);

// Why rows may not be meant for the model, as a sentence without full stop; or "": no rows, or labels other than the
// model's. zeros_count: count unknown labels 0.
std::string row_warning(const Header& header, const RunCounts& run_counts, bool zeros_count);

// Features that a model knows, besides its header.
struct KnownFeatures {
    std::int32_t first = 1;               // index of column 0 of dense rows (ModelFile::first_index)
    std::int32_t largest = 0;             // index
    std::shared_ptr<const Rows> vectors;  // or null if it does not hold them
};

// Why rows may be of another data set, or count features from another number, likewise; or "".
std::string feature_warning(const Header& header, const KnownFeatures& known, const RunCounts& run_counts);

// svm-scale's warnings after all rows. name: of the range.
std::vector<std::string> scaling_warnings(const Scaling& scaling, const ScaledEntries& scaled, const std::string& name);

// Notes after the last row: rows evaluated exactly; kernel evaluations of a model that stops early; open rows; rows
// outside the bound. steps: after which every row stopped, if any.
std::vector<std::string> closing_notes(const ResolvedOptions& resolved, const RunCounts& run_counts,
                                       std::optional<std::int64_t> steps = std::nullopt);

// Clopper and Pearson's upper bound (1934) of a share, if `differing` of `rows` random rows differ: statistical, not a
// proof. To six digits or more.
double upper_bound(double differing, double rows, double confidence);
constexpr double audit_confidence = 0.95;  // of the bounds below

// The note on an audit, and the words of an error beyond its limit. most: upper bound of the share that differs.
std::string audit_note(const RunCounts& run_counts, double most);
std::string disagreement_error(const RunCounts& run_counts, double most, double limit);

// A number in JSON, as Python writes it; null if it is not finite.
std::string json_number(double value);

}  // namespace fastsvm

// A run: answers the rows of a source, writes lines in order, and counts.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "answers/predictions.h"
#include "engine/answers.h"
#include "engine/bad_rows.h"
#include "engine/line_blocks.h"
#include "engine/predictor.h"

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

// The counts of a run, as in Answer; unknown_labels and score are of labelled rows.
struct RunCounts {
    explicit RunCounts(bool labelled = true) : labelled(labelled) {}
    bool labelled;
    std::int64_t rows = 0, outside = 0, evaluated = 0, reference_rows = 0, kernel_evaluations = 0, undecided = 0;
    std::int64_t audited = 0, audit_differing = 0;
    LevelRows level_rows{};
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

}  // namespace fastsvm

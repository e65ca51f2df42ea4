// Rows of text -> answers -> lines, in order, on several threads, with the exact model to fall back on.
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
#include "engine/question.h"

namespace fastsvm {

// A malformed line, or a row that the model cannot evaluate; the rows before it were answered.
struct DataFault : std::runtime_error {
    explicit DataFault(const RowProblem& problem) : std::runtime_error(problem.second), line(problem.first) {}
    std::int64_t line;
};

// Counts over the rows of a run: as of Answer; unknown_labels and score of labelled rows alone.
struct Tally {
    explicit Tally(bool labelled = true) : labelled(labelled) {}
    bool labelled;
    std::int64_t rows = 0, outside = 0, evaluated = 0, reference_rows = 0, kernel_evaluations = 0, undecided = 0;
    RungRows rung_rows{};
    UnknownLabels unknown_labels;
    Score score;

    void add(const Answer& answer, const Task& task);
};

// Where a run writes. All are called on the thread that calls the run; what they throw ends it.
struct Outputs {
    using Write = std::function<void(const std::string&)>;
    Write lines;
    // LIBSVM data with line numbers: the rows that the radii leave open, and those outside the bound of Claesen et al.,
    // eq. (3.11). Null: not asked for.
    Write open_rows, outside_rows;
    std::function<void()> before_writing;  // null: nothing
    std::function<void()> after_chunk;     // once its lines are written; null: nothing
};

// Answers rows and writes their lines, in order; memory does not grow with the input. No thread outlives a call, and
// where none can be started the work is done without. Throws DataFault, and what the stream and the outputs throw.
class Run {
public:
    // bad_rows: or null: the first one is a fault. Both must outlive this.
    Run(std::shared_ptr<const Request> request, Outputs outputs, Tally& tally, BadRows* bad_rows);
    // Writes the line before the first row, if there is one.
    void begin();
    // Rows of a chunk, on all threads.
    void answer(const std::shared_ptr<const Rows>& rows);
    // Rows of text, a block on each thread.
    void answer(LineBlocks& blocks);

private:
    class Crew;
    void finish(const Answer& answer);
    std::string numbered(const Rows& rows, const std::vector<std::int64_t>& which) const;

    const std::shared_ptr<const Request> request_;
    const Outputs outputs_;
    Tally& tally_;
    BadRows* const bad_rows_;
    Answerer answerer_;
};

}  // namespace fastsvm

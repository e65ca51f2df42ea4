// From rows to answers: decision values, the exact model for undecided rows, predictions and output lines.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/decisions.h"
#include "answers/predictions.h"
#include "engine/answer_options.h"
#include "engine/bad_rows.h"
#include "text/rows.h"

namespace fastsvm {

// Maximum number of decision values in memory at once: a megabyte of short rows with 300 classes would need 20 GB.
constexpr std::int64_t most_values = std::int64_t{1} << 19;

// A worker's results for a chunk: lines, predictions, open and bad rows, and counts.
struct Answer {
    // Empties it for the next chunk, without freeing the memory.
    void clear();

    std::shared_ptr<const Rows> rows;  // evaluated rows
    std::vector<RowProblem> bad;       // the others, if the run skips them
    std::optional<RowProblem> error;   // first row that cannot be evaluated; ends the run
    std::string lines;
    Predictions predictions;
    std::vector<std::int64_t> open_rows, outside_rows;  // indices in `rows`, if requested
    // outside: rows outside the bound; evaluated: by the exact model; undecided: left undecided by the radii, if
    // counted.
    std::int64_t outside = 0, evaluated = 0, kernel_evaluations = 0, undecided = 0, reference_rows = 0;
    std::int64_t audited = 0, audit_differing = 0;  // sampled rows; of these, with another label than the exact model's
    LevelRows level_rows{};                         // rows decided per level; the reference sum's are in reference_rows
};

class Predictor;

// Answers chunks, one at a time, in memory that it reuses. Each thread leases a worker of its own (Predictor::worker).
class Worker {
public:
    // resolved: must outlive this.
    explicit Worker(const ResolvedOptions& resolved);

    // Whether the rows' decision values fit in most_values.
    bool fits_in_memory(const Rows& rows) const;
    // Evaluates the rows and formats their lines. Requires fits_in_memory(rows).
    Answer answer(std::shared_ptr<const Rows> rows);
    // As answer(), without lines. decisions() is valid until the next chunk.
    void predictions(std::shared_ptr<const Rows> rows, Answer& out);
    // Calls visit(Answer&&) for each part of the rows that fits.
    template <class Visit> void answers(const std::shared_ptr<const Rows>& rows, Visit visit) {
        if (fits_in_memory(*rows)) return visit(answer(rows));
        const std::int64_t most = std::max<std::int64_t>(1, most_values / std::max<std::int64_t>(pairs(), 1));
        for (std::int64_t first = 0; first < rows->rows; first += most)
            visit(answer(std::make_shared<const Rows>(slice_rows(*rows, first, std::min(first + most, rows->rows)))));
    }

    Decisions& decisions() { return decisions_; }
    const ResolvedOptions& resolved;

private:
    std::int64_t pairs() const { return resolved.model->pairs(); }
    void evaluate(const Rows& rows);
    std::vector<std::int64_t> left_undecided(const Decisions& decisions, bool probability, double tolerance) const;
    std::shared_ptr<const Rows> evaluable(const std::shared_ptr<const Rows>& rows, std::vector<RowProblem>& bad);
    std::optional<Predictions> ask_exact(Answer& answer);
    void audit(Answer& answer);

    Decisions decisions_, again_;
    bool few_ = false;                        // decisions_ come from reference_values
    std::shared_ptr<const Predictor> exact_;  // of ResolvedOptions::audit, made on first need
};

}  // namespace fastsvm

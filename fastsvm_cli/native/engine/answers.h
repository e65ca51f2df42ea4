// Answers to rows: decision values, exact fallback, predictions, lines.
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
#include "engine/bad_rows.h"
#include "engine/question.h"
#include "text/rows.h"

namespace fastsvm {

// Decision values in memory at a time; a megabyte of short rows with 300 classes would need twenty gigabytes.
constexpr std::int64_t most_values = std::int64_t{1} << 19;

struct Answer {
    // Resets all but the allocated memory.
    void clear();

    std::shared_ptr<const Rows> rows;                   // rows that could be evaluated
    std::vector<RowProblem> bad;                        // rows that could not, if the run skips bad rows
    std::optional<RowProblem> fault;                    // first row that could not be evaluated; ends the run
    std::string lines;                                  // output lines of `rows`
    Predictions predictions;                            // the same as numbers
    std::vector<std::int64_t> open_rows, outside_rows;  // indices in `rows`; empty if not requested
    // Row counts: outside the bound; evaluated by the exact model; left open by the radii (only if the model stops
    // early or on request).
    std::int64_t outside = 0, evaluated = 0, kernel_evaluations = 0, undecided = 0, reference_rows = 0;
    RungRows rung_rows{};  // rows settled by each rung of an exact model; the last is reference_rows
};

// Answers chunks, one at a time. One per thread; reuses its memory.
class Answerer {
public:
    explicit Answerer(std::shared_ptr<const Request> request);

    // Whether the rows' decision values stay within most_values.
    bool at_once(const Rows& rows) const;
    // Requires at_once(rows).
    Answer answer(std::shared_ptr<const Rows> rows);
    // As answer(), without lines, into reused memory. decisions() is valid until the next chunk.
    void predictions(std::shared_ptr<const Rows> rows, Answer& out);
    // Calls visit(Answer&&) for each part of the rows that is small enough for at_once.
    template <class Visit> void answers(const std::shared_ptr<const Rows>& rows, Visit visit) {
        if (at_once(*rows)) return visit(answer(rows));
        const std::int64_t most = std::max<std::int64_t>(1, most_values / std::max<std::int64_t>(pairs(), 1));
        for (std::int64_t first = 0; first < rows->rows; first += most)
            visit(answer(std::make_shared<const Rows>(slice_rows(*rows, first, std::min(first + most, rows->rows)))));
    }

    Decisions& decisions() { return decisions_; }
    const Request& request() const { return *request_; }

private:
    std::int64_t pairs() const { return request_->model->pairs(); }
    void evaluate(const Rows& rows);
    std::vector<std::int64_t> left_open(const Decisions& decisions, bool probability, double tolerance) const;
    std::shared_ptr<const Rows> evaluable(const std::shared_ptr<const Rows>& rows, std::vector<RowProblem>& bad);
    std::optional<Predictions> ask_exact(Answer& answer);

    const std::shared_ptr<const Request> request_;
    Decisions decisions_, again_;
    bool few_ = false;  // decisions_ come from reference_values
};

}  // namespace fastsvm

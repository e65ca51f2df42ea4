// From rows to the lines that answer them: decision values, the exact model where they leave a row open, predictions,
// text.
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

// Decision values that are held at a time: with a value for every pair of 300 classes, those of a megabyte of short
// rows would be twenty gigabytes.
constexpr std::int64_t most_values = std::int64_t{1} << 19;

struct Answer {
    // As it was made, but for the memory that it has.
    void clear();

    std::shared_ptr<const Rows> rows;  // those that could be evaluated
    std::vector<RowProblem> bad;       // the others, where the run goes on around them
    std::optional<RowProblem> fault;   // the line of the first row that could not be evaluated, and ends the run
    std::string lines;                 // the output lines of `rows`
    Predictions predictions;           // the same as numbers
    std::vector<std::int64_t> open_rows, outside_rows;  // of `rows`; empty where nobody asked
    // Counts. outside: rows outside the bound. evaluated: by the exact model. undecided: rows whose answer the radii
    // leave open, of a model that stops early or where such rows are asked for.
    std::int64_t outside = 0, evaluated = 0, kernel_evaluations = 0, undecided = 0, reference_rows = 0;
    RungRows rung_rows{};  // rows by the rung of an exact model that settled them; the last rung is reference_rows
};

// Answers one chunk at a time; each thread has one of its own, whose memory is used again.
class Answerer {
public:
    explicit Answerer(std::shared_ptr<const Request> request);

    // Whether the decision values of these rows are few enough to be held together.
    bool at_once(const Rows& rows) const;
    // Of rows whose decision values can be held together.
    Answer answer(std::shared_ptr<const Rows> rows);
    // The same without lines, into memory that is used again. What they would be made of is in decisions() until the
    // next chunk.
    void predictions(std::shared_ptr<const Rows> rows, Answer& out);
    // Calls visit(Answer&&) for as many parts of the rows as their decision values must be held in.
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
    bool few_ = false;  // decisions_ are of reference_values
};

}  // namespace fastsvm

// Rows of text -> answers -> lines, in order, on several threads.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "answers/predictions.h"
#include "engine/answers.h"
#include "engine/line_blocks.h"
#include "engine/question.h"

namespace fastsvm {

// A line of data that is no row, or a row that the model cannot evaluate; the rows before it were answered.
struct DataFault : std::runtime_error {
    DataFault(std::int64_t line, const std::string& why) : std::runtime_error(why), line(line) {}
    std::int64_t line;
};

// Counts over the rows of a run: as of Answer, and the score. entries: of rows that were scaled, once they are.
struct Tally {
    std::int64_t rows = 0, outside = 0, evaluated = 0, reference_rows = 0, kernel_evaluations = 0, undecided = 0;
    RungRows rung_rows{};
    UnknownLabels unknown_labels;
    Score score;
    ScalingCounts scaling;
    std::int64_t entries = 0;

    void add(const Answer& answer, const Task& task);
};

// Answers every row of labelled LIBSVM text and writes its line, in order; memory does not grow with the input.
// scaling: applied to the rows, or null. write: called on this thread. Throws DataFault, and what `write` and the
// stream throw. No thread outlives the call, and where none can be started the work is done without.
Tally run(const std::shared_ptr<const Request>& request, LineBlocks& blocks, const Scaling* scaling,
          const std::function<void(const std::string&)>& write);

}  // namespace fastsvm

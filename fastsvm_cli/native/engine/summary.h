// Text of predict besides its lines: svm-predict's and fastsvm's.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/model.h"
#include "engine/question.h"
#include "engine/run.h"

namespace fastsvm {

// svm-predict's lines before the first row. printed: header of the model with the printed answers. unit: of a
// regression value, in raw labels.
std::vector<std::string> opening_lines(const Header& printed, bool probability, double unit);

// The note on an exact model's answers beside a compiled one's; "" if none.
std::string opening_note(const Header& printed, bool probability);

// svm-predict 3.37's lines after the last row.
std::vector<std::string> score_lines(const Header& printed, const Score& score);

// Why labelled rows may not belong to this model, as a sentence without full stop; "" if they may. zeros_count: an
// unknown label 0 counts too.
std::string label_doubt(const Header& header, std::int64_t rows, const UnknownLabels& unknown, bool zeros_count);

// svm-scale's warnings after all rows are read. name: of the range.
std::vector<std::string> scaling_warnings(const Scaling& scaling, const ScaledEntries& scaled, const std::string& name);

// Notes after the last row: on --exact; on a model that stops early; on rows outside the bound.
std::string proven_note(std::int64_t rows, std::int64_t evaluated, std::int64_t reference_rows);
std::string evaluations_note(std::int64_t rows, std::int64_t vectors, std::int64_t evaluations);
extern const char* const in_full_note;  // for an ordered regression model without --tolerance
std::string outside_note(std::int64_t rows, std::int64_t outside, bool regression);

// "some of rows", with the percentage.
std::string of_rows(std::int64_t some, std::int64_t rows);

// Notes of a run without further options.
std::vector<std::string> closing_notes(const Request& request, const Tally& tally);

}  // namespace fastsvm

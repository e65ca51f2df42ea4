// What predict says beside its lines: svm-predict's words, and ours.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/model.h"
#include "engine/question.h"
#include "engine/run.h"

namespace fastsvm {

// svm-predict's lines before the first row. printed: the header of the model whose answers are printed. unit: the size,
// in raw labels, of 1 in a regression's values.
std::vector<std::string> opening_lines(const Header& printed, bool probability, double unit);

// What to expect of an exact model after a compiled one; "" for nothing.
std::string opening_note(const Header& printed, bool probability);

// svm-predict 3.37's lines after the last row.
std::vector<std::string> score_lines(const Header& printed, const Score& score);

// Why labelled rows may not be of the kind that the model was trained on, as a sentence without its full stop; "" where
// they may well be. zeros_count: a label 0 that the model does not answer speaks against them, too.
std::string label_doubt(const Header& header, std::int64_t rows, const UnknownLabels& unknown, bool zeros_count);

// What svm-scale warns of, once all rows have been read. name: of the range.
std::vector<std::string> scaling_warnings(const Scaling& scaling, const ScaledEntries& scaled, const std::string& name);

// The notes after the last row: of --exact; of a model that stops early; of rows outside the bound.
std::string proven_note(std::int64_t rows, std::int64_t evaluated, std::int64_t reference_rows);
std::string evaluations_note(std::int64_t rows, std::int64_t vectors, std::int64_t evaluations);
extern const char* const in_full_note;  // of an ordered regression model without --tolerance
std::string outside_note(std::int64_t rows, std::int64_t outside, bool regression);

// some of `rows` with their percentage.
std::string of_rows(std::int64_t some, std::int64_t rows);

// Those that a run without further options has.
std::vector<std::string> closing_notes(const Request& request, const Tally& tally);

}  // namespace fastsvm

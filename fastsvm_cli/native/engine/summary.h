// The texts of predict besides its output lines: scores, notes and warnings.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/answer_options.h"
#include "engine/model.h"
#include "engine/run.h"

namespace fastsvm {

// svm-predict's lines before the first row. printed: header of the model whose answers are printed. unit: of regression
// values, in raw labels.
std::vector<std::string> opening_lines(const Header& printed, bool probability, double unit);

// Note on --exact with probabilities of more than two classes; "" otherwise.
std::string opening_note(const Header& printed, bool probability);

// The accuracy, or the mean squared error and the squared correlation; NaN or infinite as in C.
std::vector<double> scores(const Header& printed, const Score& score);

// svm-predict 3.37's lines after the last row.
std::vector<std::string> score_lines(const Header& printed, const Score& score);

// Why rows may not be meant for the model, as a sentence without full stop; or "": no rows, or labels other than the
// model's. zeros_count: count unknown labels 0.
std::string row_warning(const Header& header, std::int64_t rows, const UnknownLabels& unknown, bool zeros_count);

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

// Notes after the last row: --exact; a model that stops early; rows outside the bound.
std::string proven_note(std::int64_t rows, std::int64_t evaluated, std::int64_t reference_rows);
std::string evaluations_note(std::int64_t rows, std::int64_t vectors, std::int64_t evaluations);
extern const char* const in_full_note;  // for an ordered regression model without --tolerance
std::string outside_note(std::int64_t rows, std::int64_t outside, bool regression);

// "<some> of <rows> rows", with the percentage.
std::string of_rows(std::int64_t some, std::int64_t rows);

// Notes of fastsvm-predict after the last row.
std::vector<std::string> closing_notes(const ResolvedOptions& resolved, const RunCounts& run_counts);

}  // namespace fastsvm

// The texts of predict besides its output lines: scores, notes and warnings.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/answer_options.h"
#include "engine/model.h"
#include "engine/run.h"

namespace fastsvm {

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
                                       std::optional<int> steps = std::nullopt);

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

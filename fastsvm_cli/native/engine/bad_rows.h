// Malformed lines, and rows that the model cannot evaluate, in a run that skips them: counts, first names, filler
// lines.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

using RowProblem = std::pair<std::int64_t, std::string>;  // row or line number, and what is wrong

// Per block of text: `begin`; then, per part of its rows, `drop`, `lines` and `fill`.
class BadRows {
public:
    static constexpr std::size_t most_named = 10;  // in messages
    using Name = std::function<void(const RowProblem&)>;
    using Write = std::function<void(const std::string&)>;
    // nan: write a line of nan per bad row, else skip it. name: called for the first bad rows, in file order.
    BadRows(bool nan, Name name) : nan(nan), name_(std::move(name)) {}

    // How many more can be named.
    std::size_t unnamed() const { return most_named - named.size(); }
    // Continues an earlier run; names its bad rows again.
    void restore(std::int64_t counted, const std::vector<RowProblem>& named_then);
    // first_line: of the block's text. gaps: see Rows. faults: the first (line, what is wrong).
    void begin(std::int64_t first_line, std::vector<Gap> gaps, std::vector<RowProblem> faults);
    // Drops rows that cannot be evaluated: (row, why), increasing, numbered from the first row not written by `fill`.
    // Later row numbers omit them.
    void drop(const std::vector<RowProblem>& rows);
    // Line numbers of these rows, increasing and numbered as in `drop`.
    std::vector<std::int64_t> lines(const std::vector<std::int64_t>& rows) const;
    // Writes the lines of the block's next `rows` rows, and fillers between them, in pieces not much longer than
    // `text`.
    void fill(const std::string& text, std::int64_t rows, const Write& write);

    const std::vector<Gap>& gaps() const { return gaps_; }  // gaps of the block that `fill` has not passed

    const bool nan;
    std::string filler;  // line written for a bad row, or ""
    std::int64_t count = 0;
    std::vector<RowProblem> named;

private:
    void name(const RowProblem& problem);
    const Name name_;
    std::int64_t first_line_ = 1;
    std::vector<Gap> gaps_;
    std::vector<RowProblem> faults_;
    std::int64_t filled_ = 0;  // rows whose lines have been written
    std::int64_t passed_ = 0;  // lines skipped among them
};

}  // namespace fastsvm

// Bad rows, which a run may skip: malformed lines, and rows that the model cannot evaluate.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

using RowProblem = std::pair<std::int64_t, std::string>;  // row or line number, and the reason

// Counts bad rows, names the first ones, and writes filler lines instead of them. Per block of text, call `begin`, then
// `drop`, `lines` and `fill` for each part of its rows.
class BadRows {
public:
    // Maximum number of bad rows that are named.
    static constexpr std::size_t most_named = 10;
    using Name = std::function<void(const RowProblem&)>;
    using Write = std::function<void(const std::string&)>;
    // nan: write a line of nan per bad row. name: receives the first ones, in file order.
    BadRows(bool nan, Name name) : nan(nan), name_(std::move(name)) {}

    // Number of bad rows still to name.
    std::size_t unnamed() const { return most_named - named.size(); }
    // Continues an earlier run, and names its bad rows again.
    void restore(std::int64_t counted, const std::vector<RowProblem>& named_then);
    // Begins a block of text. gaps: see Rows. errors: the first (line, reason).
    void begin(std::int64_t first_line, std::vector<Gap> gaps, std::vector<RowProblem> errors);
    // Drops rows that cannot be evaluated: (row, reason), increasing, numbered from the first not written by `fill`.
    // Later row numbers omit them.
    void drop(const std::vector<RowProblem>& rows);
    // Line numbers of rows, increasing, numbered as in `drop`.
    std::vector<std::int64_t> lines(const std::vector<std::int64_t>& rows) const;
    // Writes `text`, the lines of the next `rows` rows, with fillers between them, in several buffers.
    void fill(const std::string& text, std::int64_t rows, const Write& write);

    const std::vector<Gap>& gaps() const { return gaps_; }  // those that `fill` has not passed

    const bool nan;
    std::string filler;  // line for a bad row, or ""
    std::int64_t count = 0;
    std::vector<RowProblem> named;

private:
    void name(const RowProblem& problem);
    const Name name_;
    std::int64_t first_line_ = 1;
    std::vector<Gap> gaps_;
    std::vector<RowProblem> errors_;
    std::int64_t filled_ = 0;  // rows written
    std::int64_t passed_ = 0;  // skipped lines among them
};

}  // namespace fastsvm

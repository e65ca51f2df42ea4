// Malformed lines, and rows that the model cannot evaluate, where a run goes on around them: counted, the first ones
// named, and a filler line written for each if that is wanted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

using RowProblem = std::pair<std::int64_t, std::string>;  // a row or a line, and what is wrong with it

// For each block of text: `begin`, then for each part of its rows `drop`, `lines` and `fill`.
class BadRows {
public:
    static constexpr std::size_t most_named = 10;  // in messages
    using Name = std::function<void(const RowProblem&)>;
    using Write = std::function<void(const std::string&)>;
    // nan: write a line of nan for a bad row, as the run has it; else it is left out. name: called with each of the
    // first ones, in the order of the file.
    BadRows(bool nan, Name name) : nan(nan), name_(std::move(name)) {}

    // How many more are to be named.
    std::size_t unnamed() const { return most_named - named.size(); }
    // Goes on from an earlier run; the bad rows that it named are named again.
    void restore(std::int64_t counted, const std::vector<RowProblem>& named_then);
    // A block follows. first_line: of its text. gaps: as of Rows. faults: (line, what is wrong with it) of the first
    // ones.
    void begin(std::int64_t first_line, std::vector<Gap> gaps, std::vector<RowProblem> faults);
    // Rows that could be read, but not evaluated: (row, why), increasing, numbered from the first one that `fill` has
    // not written. From here on rows are numbered without them.
    void drop(const std::vector<RowProblem>& rows);
    // The line numbers of these rows, which increase and are numbered likewise.
    std::vector<std::int64_t> lines(const std::vector<std::int64_t>& rows) const;
    // Writes the lines of the block's next `rows` rows, with a filler for each bad row among them, in a few pieces,
    // none of them much longer than `text`.
    void fill(const std::string& text, std::int64_t rows, const Write& write);

    const std::vector<Gap>& gaps() const { return gaps_; }  // of the block, those that `fill` has not passed

    const bool nan;
    std::string filler;  // the line that is written for a bad row, or ""
    std::int64_t count = 0;
    std::vector<RowProblem> named;

private:
    void name(const RowProblem& problem);
    const Name name_;
    std::int64_t first_line_ = 1;
    std::vector<Gap> gaps_;
    std::vector<RowProblem> faults_;
    std::int64_t filled_ = 0;  // rows whose lines have been written
    std::int64_t passed_ = 0;  // lines left out among them
};

}  // namespace fastsvm

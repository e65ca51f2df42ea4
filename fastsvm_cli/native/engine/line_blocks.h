// Blocks of lines of a source, and bad rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/parse.h"
#include "text/rows.h"
#include "text/scaling.h"

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

// Cuts a data file into blocks of whole lines, which threads parse in parallel.

constexpr std::size_t block_bytes = 1 << 20;       // maximum; a slow pipe gives less
constexpr std::size_t longest_line = 256'000'000;  // about ten million numbers

// A source of bytes.
struct ByteStream {
    std::function<std::size_t(char*, std::size_t)> read;  // returns at least one byte, or 0 at the end
    std::function<bool()> ready;                          // whether `read` returns at once
};

// Whether a text is one ASCII character that is in no number or line end.
bool may_delimit(const std::string& text);

// How to read a data file's lines. dense, delimiter, first_index: as in Format.
struct Reading {
    bool labelled = true;
    bool dense = false;
    char delimiter = ',';
    std::int32_t first_index = 1;
    std::size_t longest = longest_line;
    std::shared_ptr<const Scaling> scaling;  // applied to every row; or null
};

// Position in a data file.
struct Position {
    std::int64_t offset = 0;    // decompressed bytes
    std::int64_t lines = 0;     // lines before the offset
    std::int64_t fields = -1;   // values per dense row; -1 if unknown
    std::int64_t comments = 0;  // of these lines, neither rows nor malformed
};

// Numbers of entries before scaling (counts), and after it.
struct ScaledEntries {
    ScalingCounts counts;
    std::int64_t after = 0;
};

// A block of whole lines. Any thread parses it; the reading thread counts blocks in file order.
struct LineBlock {
    Array<char> text;  // the first `size` bytes are whole lines
    std::size_t size = 0;
    std::int64_t begin = 0;  // offset of the text
    std::int64_t end = 0;    // offset after it; once parsed, after the last line read
    std::int64_t first_line = 1;
    std::int64_t too_long = 0;         // skipped too-long lines before the text
    std::int64_t fields = -1;          // as in Position
    std::size_t most_errors = 0;       // maximum number of `errors`
    std::shared_ptr<const Rows> rows;  // null if not parsed
    std::vector<RowProblem> errors;    // the first malformed lines
    std::optional<RowProblem> error;   // of the line after the rows; ends the run
};

// Reads blocks: next() on the reading thread, then parse() on any thread, then count_block() on the reading thread, in
// file order.
class LineBlocks {
public:
    // position: where the stream starts; advanced past counted blocks. bad_rows: receives malformed lines; if null, the
    // first one is an error. scaled: counts scaled rows. All must outlive this.
    LineBlocks(ByteStream stream, Reading reading, Position& position, BadRows* bad_rows, ScaledEntries& scaled);

    // Reads whole lines; false at the end. Throws the stream's exceptions.
    bool next(LineBlock& out);
    // Sets the block's rows, and its errors or its error.
    void parse(LineBlock& block) const;
    // Counts a parsed block, and advances the position past it.
    void count_block(LineBlock& block);
    // Whether a block can be read without waiting. False until the first is counted: the width of dense rows is
    // unknown.
    bool ready() const { return position_.fields >= 0 && stream_.ready(); }
    bool around() const { return bad_rows_ != nullptr; }

    // Bytes to read for each of the next blocks.
    std::size_t size = block_bytes;
    const Reading reading;

private:
    std::string too_long_line() const;

    ByteStream stream_;
    Position& position_;
    BadRows* const bad_rows_;
    ScaledEntries& scaled_;
    Array<char> begun_;  // start of the next block's first line
    std::int64_t lines_ = 0;
    std::int64_t start_ = 0;  // offset of the text in no block yet
    bool ended_ = false;
};

}  // namespace fastsvm

// A data file in blocks of whole lines, parsed in parallel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/bad_rows.h"
#include "text/parse.h"
#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

constexpr std::size_t block_bytes = 1 << 20;       // at most; a slow pipe gives less
constexpr std::size_t longest_line = 256'000'000;  // about ten million numbers

// Source of the bytes.
struct ByteStream {
    std::function<std::size_t(char*, std::size_t)> read;  // at least one byte, when available; 0 at the end
    std::function<bool()> ready;                          // whether more can be read without waiting
};

// Format of the rows.
struct Reading {
    bool labelled = true;
    bool dense = false;    // delimited values instead of index:value
    char delimiter = ',';  // a blank means any run of blanks
    std::size_t longest = longest_line;
    std::shared_ptr<const Scaling> scaling;  // applied to every row; null if none
};

// How far a data file has been read.
struct Place {
    std::int64_t offset = 0;    // bytes of content, decompressed
    std::int64_t lines = 0;     // lines before that
    std::int64_t fields = -1;   // values of a dense row; -1 if not known yet
    std::int64_t comments = 0;  // lines that are neither rows nor malformed
};

// Effect of scaling on the rows read.
struct ScaledEntries {
    ScalingCounts counts;
    std::int64_t after = 0;  // entries of the scaled rows
};

// Does not zero new bytes.
template <class T> struct Untouched : std::allocator<T> {
    template <class U> struct rebind {
        using other = Untouched<U>;
    };
    template <class U> void construct(U* at) noexcept { ::new (static_cast<void*>(at)) U; }
    template <class U, class... Values> void construct(U* at, Values&&... values) {
        ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
    }
};
using TextBytes = std::vector<char, Untouched<char>>;

// Whole lines. Parsed on any thread; then settled on the reading thread, in file order.
struct LineBlock {
    TextBytes text;  // the first `size` bytes are whole lines
    std::size_t size = 0;
    std::int64_t begin = 0;  // offset of the text
    std::int64_t end = 0;    // offset after it; once parsed, after the last line read
    std::int64_t first_line = 1;
    std::int64_t too_long = 0;  // too-long lines before the text, otherwise unknown
    std::int64_t fields = -1;
    std::size_t faults_kept = 0;
    std::shared_ptr<const Rows> rows;  // null if not parsed
    std::vector<RowProblem> faults;    // the first malformed lines among the rows
    std::optional<RowProblem> fault;   // the line after the rows, which ends the run
};

class LineBlocks {
public:
    // place: start of the stream; advanced by settled blocks. bad_rows: receives malformed lines; null: the first is a
    // fault. scaled: counts scaled rows. All must outlive this.
    LineBlocks(ByteStream stream, Reading reading, Place& place, BadRows* bad_rows, ScaledEntries& scaled);

    // Reads a block and completes its last line; false at the end. Throws what the stream throws.
    bool next(LineBlock& out);
    void parse(LineBlock& block) const;
    // Advances the place past its rows.
    void settle(LineBlock& block);
    // Whether a block can be read without waiting, before earlier ones are settled: needs the width of dense rows.
    bool ready() const { return place_.fields >= 0 && stream_.ready(); }
    bool around() const { return bad_rows_ != nullptr; }

    // Bytes of the blocks read next.
    std::size_t size = block_bytes;
    const Reading reading;

private:
    std::string too_long_line() const;

    ByteStream stream_;
    Place& place_;
    BadRows* const bad_rows_;
    ScaledEntries& scaled_;
    TextBytes begun_;         // a line that continues in the next block
    std::int64_t lines_ = 0;  // read so far
    std::int64_t start_ = 0;  // offset of the text that is in no block yet
    bool ended_ = false;
};

}  // namespace fastsvm

// The text of a data file in blocks of whole lines, which threads parse side by side.
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

constexpr std::size_t block_bytes = 1 << 20;       // of a block, at most; a slow pipe gives smaller ones
constexpr std::size_t longest_line = 256'000'000;  // some ten million numbers

// Where the bytes come from.
struct ByteStream {
    std::function<std::size_t(char*, std::size_t)> read;  // at least one byte, as soon as there is one; 0 at the end
    std::function<bool()> ready;                          // whether more can be had without waiting
};

// How rows are written.
struct Reading {
    bool labelled = true;
    bool dense = false;    // delimited values instead of index:value
    char delimiter = ',';  // a blank means any run of blanks
    std::size_t longest = longest_line;
    std::shared_ptr<const Scaling> scaling;  // applied to every row, or null
};

// How far a data file has been read.
struct Place {
    std::int64_t offset = 0;    // bytes of its content, decompressed
    std::int64_t lines = 0;     // before that
    std::int64_t fields = -1;   // values of a dense row; -1: not known yet
    std::int64_t comments = 0;  // lines that are neither rows nor bad ones
};

// What scaling did to rows that were read.
struct ScaledEntries {
    ScalingCounts counts;
    std::int64_t after = 0;  // entries of the scaled rows
};

// Bytes that are not zeroed where room is made for more: only what is read into is touched.
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

// Whole lines of a data file. A block is parsed on any thread, and then settled, on the thread that reads, in the order
// of the file.
struct LineBlock {
    TextBytes text;  // of which `size` bytes are whole lines
    std::size_t size = 0;
    std::int64_t begin = 0;  // offset of the text
    std::int64_t end = 0;    // offset after it; once it is parsed, after the last line that was read
    std::int64_t first_line = 1;
    std::int64_t too_long = 0;  // lines just before the text of which nothing is known but this
    std::int64_t fields = -1;
    std::size_t faults_kept = 0;
    std::shared_ptr<const Rows> rows;  // none before it is parsed, and where nothing is to be parsed
    std::vector<RowProblem> faults;    // of the first bad lines among the rows
    std::optional<RowProblem> fault;   // of the line after the rows, which ends the run
};

class LineBlocks {
public:
    // place: where the stream begins; moved after the rows of every block that is settled. bad_rows: is told of the
    // lines that are no rows, or null: the first one is a fault. scaled: counted up where rows are scaled. All must
    // outlive this.
    LineBlocks(ByteStream stream, Reading reading, Place& place, BadRows* bad_rows, ScaledEntries& scaled);

    // The next block, with a line end after its last line; false at the end. Throws what the stream throws.
    bool next(LineBlock& out);
    // Makes rows of its lines.
    void parse(LineBlock& block) const;
    // Moves the place after its rows.
    void settle(LineBlock& block);
    // Whether another block can be had without waiting, before those that there are have been settled: as soon as the
    // width of a dense row is known.
    bool ready() const { return place_.fields >= 0 && stream_.ready(); }
    bool around() const { return bad_rows_ != nullptr; }

    // Bytes read for a block from here on.
    std::size_t size = block_bytes;
    const Reading reading;

private:
    std::string too_long_line() const;

    ByteStream stream_;
    Place& place_;
    BadRows* const bad_rows_;
    ScaledEntries& scaled_;
    TextBytes begun_;         // of a line whose end is in no block yet
    std::int64_t lines_ = 0;  // read so far
    std::int64_t start_ = 0;  // offset of what is in no block yet
    bool ended_ = false;
};

}  // namespace fastsvm

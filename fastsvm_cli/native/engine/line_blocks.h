// The text of a data file in blocks of whole lines.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fastsvm {

constexpr std::size_t block_bytes = 1 << 20;       // of a block, at most; a slow pipe gives smaller ones
constexpr std::size_t longest_line = 256'000'000;  // some ten million numbers
// What is said of a longer line.
std::string too_long_line();

// Where the bytes come from.
struct ByteStream {
    std::function<std::size_t(char*, std::size_t)> read;  // at least one byte, as soon as there is one; 0 at the end
    std::function<bool()> ready;                          // whether more can be had without waiting
};

struct LineBlock {
    std::vector<char> text;  // of which `size` bytes are whole lines
    std::size_t size = 0;
    std::int64_t first_line = 1;
    bool too_long = false;  // the line after these is; nothing follows then
};

class LineBlocks {
public:
    explicit LineBlocks(ByteStream stream) : stream_(std::move(stream)) {}
    // The next block, with a line end after its last line; false at the end. What the stream throws.
    bool next(LineBlock& out);
    bool ready() const { return stream_.ready(); }
    // Bytes read for a block from here on.
    std::size_t size = block_bytes;

private:
    ByteStream stream_;
    std::vector<char> begun_;  // of a line whose end is in no block yet
    std::int64_t lines_ = 0;
    bool ended_ = false;
};

}  // namespace fastsvm

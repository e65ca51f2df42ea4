#include "engine/line_blocks.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "text/parse.h"

namespace fastsvm {

std::string too_long_line() {
    return "a line of more than " + std::to_string(longest_line / 1'000'000) +
           " MB found, expected a row (predict --max-line allows longer ones)";
}

bool LineBlocks::next(LineBlock& out) {
    if (ended_) return false;
    std::vector<char>& text = out.text;
    text.swap(begun_);
    begun_.clear();
    out.first_line = lines_ + 1;
    out.too_long = false;
    std::size_t filled = text.size();
    for (;;) {
        const std::size_t scanned = filled;
        while (!ended_ && filled - scanned < size) {
            text.resize(std::max(text.size(), scanned + size + 1));
            const std::size_t got = stream_.read(text.data() + filled, size - (filled - scanned));
            filled += got;
            ended_ = got == 0;
            if (!ended_ && !stream_.ready()) break;
        }
        const std::string_view fresh(text.data() + scanned, filled - scanned);
        const std::size_t first = fresh.find('\n'), last = fresh.rfind('\n');
        // Only a block's first line, begun in an earlier one, can be too long: no read is longer.
        if ((first == std::string_view::npos ? filled : scanned + first) > longest_line) {
            out.size = 0;
            out.too_long = ended_ = true;
            return true;
        }
        if (ended_) {
            if (filled && text[filled - 1] != '\n') text.resize(filled + 1), text[filled++] = '\n';
            out.size = filled;
            return filled > 0;
        }
        if (last == std::string_view::npos) continue;
        out.size = scanned + last + 1;
        begun_.assign(text.begin() + static_cast<std::ptrdiff_t>(out.size),
                      text.begin() + static_cast<std::ptrdiff_t>(filled));
        lines_ += count_lines(text.data(), out.size);
        return true;
    }
}

}  // namespace fastsvm

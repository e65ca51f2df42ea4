#include "text/row_before.h"

#include <algorithm>
#include <cstring>

#include "text/blanks.h"
#include "text/numbers.h"

namespace fastsvm {

namespace {

constexpr std::int64_t longest_pause = 1023;

}  // namespace

void RowBefore::keep_if(bool useful) {
    if (useful) {
        pause_ /= 2;
        return;
    }
    texts_.count = 0;
    pause_ = std::min(2 * pause_ + 1, longest_pause);
    paused_ = 0;
}

void RowBefore::remember(const char* p, const std::int32_t* indices, std::int64_t count) {
    if (count > IndexTexts::most) return;
    for (std::int64_t i = 0; i < count; ++i) {
        p = skip_blanks(p);
        const char* const word = p;
        std::int64_t index = 0;
        while (is_digit(*p) && p - word < IndexTexts::most_bytes) index = 10 * index + (*p++ - '0');
        const std::size_t bytes = static_cast<std::size_t>(p + 1 - word);
        // Not remembered: long indices, signs, words that are not entries (qid:).
        if (*p != ':' || index != indices[i] || bytes > IndexTexts::most_bytes) return;
        IndexTexts::Word& of_word = texts_.words[i];
        of_word = {0, indices[i], static_cast<std::uint16_t>(bytes), static_cast<std::uint16_t>(64 - 8 * bytes)};
        std::memcpy(&of_word.text, word, bytes);
        while (!ends_word(p)) ++p;
    }
    texts_.count = count;
}

}  // namespace fastsvm

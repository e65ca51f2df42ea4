// Text by whole registers, compiled once per instruction set (text_loops.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

struct ByteCounts {
    std::int64_t lines, separators;
};

// So many are read only where there is room for as many.
constexpr std::int64_t plain_words_at_once = 32;

// Where plain words go, and what is known of those before them in their row.
struct PlainWords {
    std::int32_t* indices;
    double* values;
    std::int64_t room;    // for so many
    std::int64_t last;    // the index before, which the next one must be above
    double squared_norm;  // the row's so far
    std::int64_t count;   // of those that were read
};

// The indices of an earlier row as text, with the ':' behind each: most rows of dense data repeat most of them.
struct IndexTexts {
    static constexpr std::int64_t most = 1024;     // words; of a longer row there are none
    static constexpr std::int64_t most_bytes = 8;  // of a word
    struct Word {
        std::uint64_t text;  // from its lowest byte on
        std::int32_t index;
        std::uint16_t bytes, others;  // bits of `text` that are others, above it
    };
    std::int64_t count = 0;
    Word words[most];
};

struct TextLoops {
    // The LFs among size bytes, and the separators.
    ByteCounts (*count)(const char* text, std::int64_t size, char separator);
    // Reads index:value words from p on, a single blank or tab behind each, as long as they are plain: at most eight
    // digits of index and fifteen bytes of value, with a minus in front or none, in decimal without exponent. Their
    // values are those of read_double. Returns where it stopped: at the LF of the row, or at a word that is not plain,
    // whatever that is, or that is less than 80 bytes before `end`; where the machine has no loop for it, at p.
    const char* (*read_plain)(const char* p, const char* end, PlainWords& words);
    // As read_plain, from the first word of a row on, and at most as far as the indices of `before` go; words whose
    // index is one of those, and whose text is the same, are read two at a time: `repeated`.
    const char* (*read_alike)(const char* p, const char* end, const IndexTexts& before, PlainWords& words,
                              std::int64_t& repeated);
};

}  // namespace fastsvm

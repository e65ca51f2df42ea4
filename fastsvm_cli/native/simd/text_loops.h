// Loops that read LIBSVM text: they count lines, and read plain index:value words.
#pragma once
#include <cstdint>

namespace fastsvm {

struct ByteCounts {
    std::int64_t lines, separators;
};

// Reading goes on while the output has a capacity for this many more words.
constexpr std::int64_t plain_words_at_once = 32;

// Where the words that are read go, and the state of their row.
struct PlainWords {
    std::int32_t* indices;
    double* values;
    std::int64_t capacity;  // words that fit `indices` and `values`
    std::int64_t last;      // the previous index; the next one must be larger
    double squared_norm;
    std::int64_t count;  // of words read
};

struct TextLoops {
    ByteCounts (*count)(const char* text, std::int64_t size, char separator);
    // Reads plain index:value words from p, one blank or tab after each: up to eight index digits and fifteen value
    // bytes, optional minus, decimal, no exponent. Values equal read_double's. Returns where it stopped: the row's LF,
    // a word that is not plain, or one less than 80 bytes before `end`; p if the machine has no loop.
    const char* (*read_plain)(const char* p, const char* end, PlainWords& words);
};

}  // namespace fastsvm

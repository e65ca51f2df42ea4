// Kernel values of rows and vectors that stand on one grid, from whole numbers: loops compiled once per instruction set
// (grid.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

// Everything stands in words of 32 bits: 32 features of one bit; or a few small numbers, of 8 bits where the machine
// multiplies and adds such, of 16 bits elsewhere. How many differ, or the inner product, is summed up word by word.

// Rows side by side; words that no sum needs are left out.
struct GridRows {
    std::int64_t count;          // of words
    const std::int32_t* at;      // (count): which of a vector's words each one meets
    const std::uint32_t* words;  // (count, rows)
    const std::int32_t* norms;   // (rows): of bits, how many are set; of numbers, what GridLoops::norm says
};

// Vectors in strips of `strip` (loops.h).
struct GridStrips {
    std::int64_t count;           // of strips
    std::int64_t words;           // of a vector
    const std::uint32_t* blocks;  // (count, words, strip)
    const std::int32_t* norms;    // (count, strip): the sums of squares
};

// exp(-gamma step^2 D) for D = 0, 1, 2, ...
struct GridExponential {
    const float* table;  // up to D = last; the values beyond are the last one's
    std::int32_t last;
    double exponent;       // gamma step^2 / ln 2
    float high, low;       // the same as a sum of two
    std::int32_t nothing;  // from here on 0, where it is computed
};

// common_bits: for rows of whose words some are left out; numbers: |x|^2 + |z|^2 - 2 x.z.
enum class GridDistance { different_bits, common_bits, numbers };
// Where exp comes from: a table of the least size that D stays below, for bits; any table; or a polynomial, for
// numbers.
enum class GridLookup { below_32, below_64, below_128, table, polynomial };

struct GridLoops {
    int rows;              // side by side, or one
    int numbers;           // in a word
    std::uint32_t offset;  // added (bit by bit modulo two) to every word of a vector's numbers: the machine's second
                           // factor is signed
    // |z|^2 less what the offset adds to -2 x.z, for a sum of numbers and a sum of their squares.
    std::int32_t (*norm)(std::int32_t sum, std::int32_t squares);
    // out[r][s] for `rows` rows and the vectors of all strips.
    void (*values)(int rows, GridDistance distance, GridLookup lookup, const GridRows& z, const GridStrips& x,
                   const GridExponential& exponential, float* const* out);
};

}  // namespace fastsvm

// Kernel values of rows and vectors that stand on one grid, from whole numbers: loops compiled once per instruction set
// (grid.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

// Points are words of 32 bits, or codes of four bits. A word holds 32 features of one bit; or a few small numbers, of 8
// bits where the machine multiplies and adds such, of 16 bits elsewhere. How many differ, or the inner product, is
// summed up word by word. A code, in a byte of its own, holds four features of two levels or two of up to four: see
// GridCodeLoops.

// Rows side by side; words that no sum needs are left out.
struct GridRows {
    std::int64_t count;          // of words
    const std::int32_t* at;      // (count): which of a vector's words each one meets
    const std::uint32_t* words;  // (count, rows)
    const std::int32_t* norms;   // (rows): of bits, how many are set; of numbers, what GridLoops::norm says
    std::int64_t run;            // of small numbers: so many words' products fit the sums of 16 bits
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
    // The values at D = 0, 8, 16, ..., and at D = 0, 16, 32, ...: each value below 128 or 256 is one of these times one
    // of the table's first.
    float by_eight[16], by_sixteen[16];
};

// common_bits: for rows of whose words some are left out; numbers: |x|^2 + |z|^2 - 2 x.z; bytes: likewise, of numbers
// below GridLoops::small; small_numbers: of such, of which several words' products fit 16 bits.
enum class GridDistance { different_bits, common_bits, numbers, bytes, small_numbers };
// Where exp comes from: a table of the least size that D stays below, for bits and codes (of codes a product of two
// tables' numbers); any table; or a polynomial, for numbers, or a shorter one where GridExponential::nothing is at most
// 2^24, for numbers of `small` machines and for codes.
enum class GridLookup { below_32, below_64, below_128, below_256, table, polynomial, short_polynomial };

constexpr int codes_per_table = 16;

// A row for vectors of codes. D = the vector's base + start + a number from the table of each code in which the row is
// not the usual one, modulo 2^16.
struct GridCodeRow {
    std::int64_t count;
    const std::int32_t* at;       // (count): where the vectors' codes are in a strip
    const unsigned char* tables;  // (count, codes_per_table)
    std::int32_t start;
};

// `count` strips of vectors in codes; of a strip the vectors are in the order of GridCodeLoops::place.
struct GridCodeStrips {
    std::int64_t count;           // of strips
    std::int64_t codes;           // of a vector
    const unsigned char* blocks;  // (count, codes, strip)
    const unsigned char* bases;   // (count, 2, strip): the low bytes, and the high ones
};

// A row meets the codes of as many vectors as a register has bytes in one permutation of its table.
struct GridCodeLoops {
    int strips;  // that meet a row's table one after the other: a number of them that is a multiple of this is cheapest
    // The byte of a strip that vector s of it takes.
    int (*place)(int s);
    // out[s] for the vectors of all strips. Lookups below some number: for D below it, whatever the tables;
    // short_polynomial: for D below 2^16, where `run` numbers of the row's tables never exceed 255 together.
    void (*values)(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodeStrips& x,
                   const GridExponential& exponential, float* out);
    // sums[...] += factor times the same values times coef[s], `lanes` partial sums: of four terms in single precision,
    // the rest in double.
    void (*sums)(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodeStrips& x,
                 const GridExponential& exponential, const float* coef, double factor, double* sums);
};

struct GridLoops {
    int rows;     // side by side, or one
    int numbers;  // in a word
    // Numbers below this are small: four to a word, whose products are summed in 16 bits while they add up to at most
    // small_sum for every number of a word's four. 0: there are no such loops here.
    std::int32_t small, small_sum;
    std::uint32_t offset;  // added (bit by bit modulo two) to every word of a vector's numbers: the machine's second
                           // factor is signed
    // |z|^2 less what the offset adds to -2 x.z, for a sum of numbers and a sum of their squares.
    std::int32_t (*norm)(std::int32_t sum, std::int32_t squares);
    // out[r][s] for `rows` rows and the vectors of all strips.
    void (*values)(int rows, GridDistance distance, GridLookup lookup, const GridRows& z, const GridStrips& x,
                   const GridExponential& exponential, float* const* out);
    // sums[r][...] += the same values times coef[s], as GridCodeLoops::sums; null: there are no such loops here.
    void (*sums)(int rows, GridDistance distance, GridLookup lookup, const GridRows& z, const GridStrips& x,
                 const GridExponential& exponential, const float* coef, double* const* sums);
    const GridCodeLoops* codes;  // null: this machine's registers have no permutation of bytes
};

}  // namespace fastsvm

// Kernel values of rows and vectors on one grid, from whole numbers; compiled per instruction set (grid.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

// Points are 32-bit words or four-bit codes. A word holds 32 one-bit features, or a few small numbers of 8 bits, or of
// 16 if the machine cannot multiply and add bytes; differing bits, or inner products, are summed per word. A code, in
// its own byte, holds four features of two levels or two of up to four: see GridCodeLoops.

// Rows side by side, without words that no sum needs.
struct GridRows {
    std::int64_t count;          // of words
    const std::int32_t* at;      // (count): index of each word in a vector
    const std::uint32_t* words;  // (count, rows)
    const std::int32_t* norms;   // (rows): for bits, the number set; for numbers, GridLoops::norm
    std::int64_t run;            // small numbers: words whose products fit 16-bit sums
};

// Vectors in strips of `strip` (loops.h).
struct GridStrips {
    std::int64_t count;           // of strips
    std::int64_t words;           // per vector
    const std::uint32_t* blocks;  // (count, words, strip)
    const std::int32_t* norms;    // (count, strip): sums of squares
};

// exp(-gamma step^2 D) for D = 0, 1, 2, ...
struct GridExponential {
    const float* table;  // up to D = last; the last value holds beyond
    std::int32_t last;
    double exponent;       // gamma step^2 / ln 2
    float high, low;       // `exponent` as a sum of two
    std::int32_t nothing;  // 0 from here on, if computed
    // At D = 0, 8, 16, ..., and D = 0, 16, 32, ...: values below 128 or 256 are one of these times one of the table's
    // first.
    float by_eight[16], by_sixteen[16];
};

// common_bits: if words are omitted; numbers: |x|^2 + |z|^2 - 2 x.z; bytes: likewise, below GridLoops::small;
// small_numbers: likewise, several words' products in 16 bits.
enum class GridDistance { different_bits, common_bits, numbers, bytes, small_numbers };
// exp from a table of the least size above D, for bits and codes (codes: product of two tables' numbers); from any
// table; from a polynomial, for numbers; or a shorter one if GridExponential::nothing <= 2^24, for numbers on `small`
// machines and codes.
enum class GridLookup { below_32, below_64, below_128, below_256, table, polynomial, short_polynomial };

constexpr int codes_per_table = 16;

// A row for vectors in codes. D = base of the vector + start + a table number per unusual code of the row, modulo 2^16.
struct GridCodeRow {
    std::int64_t count;
    const std::int32_t* at;       // (count): positions of the vectors' codes in a strip
    const unsigned char* tables;  // (count, codes_per_table)
    std::int32_t start;
};

// `count` strips of vectors in codes, each in the order of GridCodeLoops::place.
struct GridCodeStrips {
    std::int64_t count;           // of strips
    std::int64_t codes;           // per vector
    const unsigned char* blocks;  // (count, codes, strip)
    const unsigned char* bases;   // (count, 2, strip): low bytes, then high bytes
};

// One permutation of a row's table serves as many vectors as a register has bytes.
struct GridCodeLoops {
    int strips;  // strips per use of a row's table; multiples are cheapest
    // Byte of a strip's vector s.
    int (*place)(int s);
    // out[s] for all vectors. below_n: D < n, any tables; short_polynomial: D < 2^16, any `run` table numbers of the
    // row total at most 255.
    void (*values)(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodeStrips& x,
                   const GridExponential& exponential, float* out);
    // sums[...] += factor times these values times coef[s], `lanes` partial sums: four terms in single precision, the
    // rest in double.
    void (*sums)(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodeStrips& x,
                 const GridExponential& exponential, const float* coef, double factor, double* sums);
};

struct GridLoops {
    int rows;     // side by side; one is also possible
    int numbers;  // per word
    // Numbers below `small` are four to a word; their products are summed in 16 bits up to small_sum per number of a
    // word's four. 0: no such loops.
    std::int32_t small, small_sum;
    std::uint32_t offset;  // exclusive-ored into vectors' words: the second factor is signed
    // |z|^2 less the offset's share of -2 x.z, from the sums of numbers and of squares.
    std::int32_t (*norm)(std::int32_t sum, std::int32_t squares);
    // out[r][s] for `rows` rows and the vectors of all strips.
    void (*values)(int rows, GridDistance distance, GridLookup lookup, const GridRows& z, const GridStrips& x,
                   const GridExponential& exponential, float* const* out);
    // sums[r][...] += these values times coef[s], as GridCodeLoops::sums; or null.
    void (*sums)(int rows, GridDistance distance, GridLookup lookup, const GridRows& z, const GridStrips& x,
                 const GridExponential& exponential, const float* coef, double* const* sums);
    const GridCodeLoops* codes;  // null without byte permutations
};

}  // namespace fastsvm

// Loops that compute RBF kernel values from whole numbers, for rows and vectors whose features take few values.
#pragma once
#include <cstdint>

namespace fastsvm {

// Rows and vectors are on one grid: |x - z|^2 is a whole number D times the squared step (B30 of PROOFS.md), and K =
// exp(-gamma step^2 D). Their numbers are in 32-bit words or in four-bit codes. A word holds 32 one-bit features, or a
// few numbers of 8 bits (16 if the machine cannot multiply and add bytes of four words). A code, in a byte of its own,
// holds four features of two levels or two of up to four.

// A few rows side by side, without the words that no sum needs.
struct GridRows {
    std::int64_t count;      // of words
    const std::int32_t* at;  // (count): index of each word in a vector
    const std::uint32_t* words;
    const std::int32_t* norms;  // (rows): for bits, the number set; for numbers, GridLoops::norm
};

// Vectors as words, in panels.
struct GridPanels {
    std::int64_t count;
    std::int64_t words;           // per vector
    const std::uint32_t* blocks;  // (count, words, panel)
    const std::int32_t* norms;    // (count, panel): sums of squares
};

// exp(-gamma step^2 D) for D = 0, 1, 2, ...
struct GridExponential {
    const float* table;  // values up to D = last; the last one also serves beyond
    std::int32_t last;
    double exponent;       // gamma step^2 / ln 2
    float high, low;       // whose sum is `exponent`
    std::int32_t nothing;  // computed values are 0 from this D on
    // Values at D = 0, 8, 16, ... and at D = 0, 16, 32, ...: those below D = 128 or 256 are products of one of these
    // and one of the table's first.
    float by_eight[16], by_sixteen[16];
};

// Where exp is from. below_n: the smallest table above D, for bits and codes (codes: a product of two numbers). table,
// polynomial: for words. short_polynomial: if GridExponential::nothing <= 2^24, for codes.
enum class GridLookup { below_32, below_64, below_128, below_256, table, polynomial, short_polynomial };

constexpr int codes_per_table = 16;

// A row for vectors in codes. D = base of the vector + start + a table number per unusual code of the row, modulo 2^16.
struct GridCodeRow {
    std::int64_t count;
    const std::int32_t* at;       // (count): positions of codes in a panel
    const unsigned char* tables;  // (count, codes_per_table)
    std::int32_t start;
};

// Vectors as codes, in panels with the vectors in the order of GridCodeLoops::position.
struct GridCodePanels {
    std::int64_t count;
    std::int64_t codes;           // per vector
    const unsigned char* blocks;  // (count, codes, panel)
    const unsigned char* bases;   // (count, 2, panel): low bytes, high bytes
};

// Loops for codes. One permutation of a row's table serves as many vectors as a register has bytes.
struct GridCodeLoops {
    int panels;  // best number of panels at a time
    // Where a panel has its vector s.
    int (*position)(int s);
    // out[s] = K for all vectors. below_n: D < n; short_polynomial: D < 2^16, and any `run` table numbers of the row
    // total at most 255.
    void (*values)(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
                   const GridExponential& exponential, float* out);
    // Adds factor times these values times coef[s] to sums[...], `lanes` partial sums (B25).
    void (*sums)(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
                 const GridExponential& exponential, const float* coef, double factor, double* sums);
};

// Loops for words, and for codes if the machine has them. D = |x|^2 + |z|^2 - 2 x.z, where x.z of bits is the number
// set in both: words that are 0 in all rows can be omitted.
struct GridLoops {
    int rows;              // rows side by side; the loops also take one
    int numbers;           // per word
    std::uint32_t offset;  // exclusive-ored into vectors' words, since the second factor is signed
    // |z|^2 less the share of `offset` in -2 x.z, from sums of numbers and squares.
    std::int32_t (*norm)(std::int32_t sum, std::int32_t squares);
    // out[r][s] = K for `rows` rows and all vectors. bits: whether words hold bits, not numbers.
    void (*values)(int rows, bool bits, GridLookup lookup, const GridRows& z, const GridPanels& x,
                   const GridExponential& exponential, float* const* out);
    const GridCodeLoops* codes;  // or null
};

}  // namespace fastsvm

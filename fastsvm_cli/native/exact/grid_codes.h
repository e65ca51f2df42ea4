// Vectors on a grid of few levels as codes of four bits, and the tables by which rows meet them.
#pragma once
#include <cstdint>
#include <vector>

#include "simd/aligned.h"
#include "simd/loops.h"

namespace fastsvm {

// D = sum over the codes of T(z, x), the squared distance of the features of one code from those of another. It is
// taken from the `usual` codes u, the most frequent of the vectors: D = base(x) + sum of T(z, x) - T(u, x) over the
// codes in which a row differs from u, few of a sparse one's. The tables of these differences are moved by their least
// number, `start` of a row makes up for it: so none is negative, and their sums are widened in time where D may exceed
// a byte.
class GridCodes {
public:
    static constexpr std::int64_t most_distance = (1 << 16) - 1;

    // So many codes of features of `bits` bits, for so many vectors (whole strips). D must stay within most_distance.
    GridCodes(const GridCodeLoops& loops, int bits, std::int64_t codes, std::int64_t padded);
    // Vector s.
    void put(std::int64_t s, const unsigned char* codes);
    // When all vectors are put; `fillers` tells which are none.
    void finish(const std::vector<std::int64_t>& order);

    // Rows, one after the other.
    struct Rows {
        struct Row {
            std::int64_t first, count;  // of `at`
            std::int32_t start;
            std::int64_t largest;  // D with any vector is at most this
        };
        std::vector<Row> rows;
        std::vector<std::int32_t> at;
        std::vector<unsigned char> tables;
        void clear() { rows.clear(), at.clear(), tables.clear(); }
    };
    void take(const unsigned char* codes, Rows& out) const;
    // By what a row's values are found; and how far off such a value is, relative to itself.
    GridLookup lookup(const Rows::Row& row) const;
    static double lookup_error(GridLookup lookup);
    // How many codes of a vector are not the usual ones, on average.
    double unusual() const { return unusual_; }

    // Strips of vectors that stay in the fastest cache while rows meet them.
    std::int64_t strips_at_a_time() const;
    // As GridCodeLoops has them: for the vectors from <= s < to, whole strips.
    void values(const Rows& rows, std::int64_t r, std::int64_t from, std::int64_t to,
                const GridExponential& exponential, float* out) const;
    void add_sums(const Rows& rows, std::int64_t r, std::int64_t from, std::int64_t to,
                  const GridExponential& exponential, const float* coef, double factor, double* sums) const;

private:
    static constexpr int kinds = 16;  // of codes
    // What a row's code z adds to the distance from one where u is usual.
    struct Table {
        unsigned char added[kinds];  // less the least
        std::int32_t least;
    };
    void tabulate(int bits);
    GridCodeRow row(const Rows& rows, std::int64_t r) const;
    GridCodeStrips strips(std::int64_t from, std::int64_t to) const;

    const GridCodeLoops& loops_;
    std::int64_t codes_;
    std::int32_t distance_[kinds][kinds];
    Table tables_[kinds][kinds];  // by u and z
    std::int64_t run_ = 0;        // so many numbers of the tables fit a byte together
    std::vector<unsigned char> usual_;
    // Of each code, for each z: the largest distance from any vector's; and for all codes together where z is usual.
    std::vector<std::int32_t> farthest_;  // (codes, kinds)
    std::int64_t usual_farthest_ = 0, largest_base_ = 0;
    double unusual_ = 0;
    bool metric_ = false;            // distances of bits, which obey the triangle inequality; their roots do, otherwise
    Aligned<unsigned char> blocks_;  // (strips, codes, strip)
    Aligned<unsigned char> bases_;   // (strips, 2, strip)
};

}  // namespace fastsvm

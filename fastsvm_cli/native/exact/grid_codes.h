// Vectors on a grid of few levels as four-bit codes, and row tables.
#pragma once
#include <cstdint>
#include <vector>

#include "simd/aligned.h"
#include "simd/loops.h"

namespace fastsvm {

// D = sum over the codes of T(z, x), the squared distance between two codes' features. With the vectors' most frequent,
// `usual` codes u: D = base(x) + sum of T(z, x) - T(u, x) over codes in which a row differs from u, few if it is
// sparse. Tables are shifted by their minimum, which a row's `start` makes up for, so entries are not negative; sums
// are widened before D can exceed a byte.
class GridCodes {
public:
    static constexpr std::int64_t most_distance = (1 << 16) - 1;

    // Number of codes, of features of `bits` bits, and of vectors (whole strips). D must stay within most_distance.
    GridCodes(const GridCodeLoops& loops, int bits, std::int64_t codes, std::int64_t padded);
    // Sets vector s.
    void put(std::int64_t s, const unsigned char* codes);
    // Call last. order: -1 marks padding.
    void finish(const std::vector<std::int64_t>& order);

    // Rows, stored one after the other.
    struct Rows {
        struct Row {
            std::int64_t first, count;  // in `at`
            std::int32_t start;
            std::int64_t largest;  // D with any vector is at most this
        };
        std::vector<Row> rows;
        std::vector<std::int32_t> at;
        std::vector<unsigned char> tables;
        void clear() { rows.clear(), at.clear(), tables.clear(); }
    };
    void take(const unsigned char* codes, Rows& out) const;
    // A row's lookup; the relative error of its values.
    GridLookup lookup(const Rows::Row& row) const;
    static double lookup_error(GridLookup lookup);
    // Average number of unusual codes in a vector.
    double unusual() const { return unusual_; }

    // Strips that stay in the fastest cache while rows pass.
    std::int64_t strips_at_a_time() const;
    // As in GridCodeLoops; from <= s < to, whole strips.
    void values(const Rows& rows, std::int64_t r, std::int64_t from, std::int64_t to,
                const GridExponential& exponential, float* out) const;
    void add_sums(const Rows& rows, std::int64_t r, std::int64_t from, std::int64_t to,
                  const GridExponential& exponential, const float* coef, double factor, double* sums) const;

private:
    static constexpr int kinds = 16;  // of codes
    // Change of distance if a row's code is z, not u.
    struct Table {
        unsigned char added[kinds];  // less the minimum
        std::int32_t least;
    };
    void tabulate(int bits);
    GridCodeRow row(const Rows& rows, std::int64_t r) const;
    GridCodeStrips strips(std::int64_t from, std::int64_t to) const;

    const GridCodeLoops& loops_;
    std::int64_t codes_;
    std::int32_t distance_[kinds][kinds];
    Table tables_[kinds][kinds];  // by u and z
    std::int64_t run_ = 0;        // how many table entries add up within a byte
    std::vector<unsigned char> usual_;
    // Per code and z: the largest distance from any vector's code; and the total over all codes if every z is usual.
    std::vector<std::int32_t> farthest_;  // (codes, kinds)
    std::int64_t usual_farthest_ = 0, largest_base_ = 0;
    double unusual_ = 0;
    bool metric_ = false;            // bit distances, which obey the triangle inequality; otherwise their roots do
    Aligned<unsigned char> blocks_;  // (strips, codes, strip)
    Aligned<unsigned char> bases_;   // (strips, 2, strip)
};

}  // namespace fastsvm

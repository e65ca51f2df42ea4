// GridCodes: kernel values of vectors on a grid of few levels, from four-bit codes.
#pragma once
#include <cstdint>
#include <vector>

#include "simd/aligned.h"
#include "simd/loops.h"

namespace fastsvm {

// Vectors on a grid of few levels as four-bit codes (B30). u: the vectors' most frequent (`usual`) codes, from which
// few codes of a sparse row differ. Tables are shifted by their minimum, so that no entry is negative; `start` corrects
// this.
class GridCodes {
public:
    static constexpr std::int64_t most_distance = (1 << 16) - 1;

    // codes: per vector, of features of `bits` bits; padded: vectors in whole panels. D must stay within most_distance.
    GridCodes(const GridCodeLoops& loops, int bits, std::int64_t codes, std::int64_t padded);
    // Stores the codes of vector s.
    void put(std::int64_t s, const unsigned char* codes);
    // Finds the usual codes, and what the vectors' D with them are. Call it after the last put(). order: -1 for
    // padding.
    void finish(const std::vector<std::int64_t>& order);

    // Rows as differences from the usual codes; reused.
    struct Rows {
        struct Row {
            std::int64_t first, count;  // in `at`
            std::int32_t start;
            std::int64_t largest;  // upper bound of D
        };
        std::vector<Row> rows;
        std::vector<std::int32_t> at;
        std::vector<unsigned char> tables;
        void clear() { rows.clear(), at.clear(), tables.clear(); }
    };
    // Appends a row, of these codes, to `out`.
    void take(const unsigned char* codes, Rows& out) const;
    // Where a row's exponentials are from, by its largest D; their relative error.
    GridLookup lookup(const Rows::Row& row) const;
    static double lookup_error(GridLookup lookup);
    // Average number of a vector's codes that are not usual.
    double unusual() const { return unusual_; }

    // Panels that stay in the fastest cache while rows pass.
    std::int64_t panels_at_a_time() const;
    // As in GridCodeLoops; from <= s < to, whole panels.
    void values(const Rows& rows, std::int64_t r, std::int64_t from, std::int64_t to,
                const GridExponential& exponential, float* out) const;
    void add_sums(const Rows& rows, std::int64_t r, std::int64_t from, std::int64_t to,
                  const GridExponential& exponential, const float* coef, double factor, double* sums) const;

private:
    static constexpr int kinds = 16;
    // Change of D if a row's code is z, not u.
    struct Table {
        unsigned char added[kinds];  // less the minimum
        std::int32_t least;
    };
    void tabulate(int bits);
    GridCodeRow row(const Rows& rows, std::int64_t r) const;
    // The row of vector s in `blocks_` and `bases_`.
    std::int64_t place(std::int64_t s) const {
        return s / panel * panel + loops_.position(static_cast<int>(s % panel));
    }
    GridCodePanels panels(std::int64_t from, std::int64_t to) const;

    const GridCodeLoops& loops_;
    std::int64_t codes_;
    std::int32_t distance_[kinds][kinds];
    Table tables_[kinds][kinds];  // by u and z
    std::int64_t run_ = 0;        // table entries that add up within a byte
    std::vector<unsigned char> usual_;
    // Per code and z, the largest distance from any vector's code; their total over the usual codes.
    std::vector<std::int32_t> farthest_;  // (codes, kinds)
    std::int64_t usual_farthest_ = 0, largest_base_ = 0;
    double unusual_ = 0;
    bool metric_ = false;  // whether D itself obeys the triangle inequality (bits), or only its root
    // Vectors of a panel in the order of GridCodeLoops::position.
    PanelMatrix<unsigned char> blocks_;  // (padded, codes)
    PanelMatrix<unsigned char> bases_;   // (padded, 2)
};

}  // namespace fastsvm

// The level grid: vectors on a grid, their codes, and kernel values from whole numbers.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exact/labels/kernel_tiles.h"
#include "exact/reference/reference.h"
#include "exact/values/panels.h"
#include "simd/loops.h"
#include "text/rows.h"

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

// Features with few, evenly spaced values: binary, levels of gray, scaled or not. A value of column c is anchor_c +
// step (least_c + k), k whole, to within a file's digits. All columns share the step, so squared distances are whole
// multiples of its square.
class Grid {
public:
    static constexpr std::int32_t most_levels = 256;
    // Returns the grid of the vectors, k from 0 to 255 in every column, or nullopt if there is none.
    static std::optional<Grid> of(const Rows& vectors, const Features& features);
    // Fast check: false if a sample is not on a grid.
    static bool possible(const Rows& vectors);

    double step() const { return step_; }
    // Largest number of steps between two values of a feature, plus one.
    std::int32_t levels() const { return levels_; }
    // Upper limit of the k of vectors and of zeros.
    std::int32_t numbers() const { return numbers_; }
    // Largest Euclidean distance of a vector from the grid, without absent entries.
    double off() const { return off_; }
    // Turns a row's values into the whole numbers k. The grid must outlive it.
    struct Quantizer {
        struct Column {
            double anchor = 0;
            std::int32_t least = 0, zero = -1;
        };
        // Sets a value's k and its distance from the grid; false if off the grid.
        bool quantize(std::int64_t column, double value, std::int32_t& number, double& off) const {
            const Column& c = columns[column];
            const double steps = (value - c.anchor) * per_step;
            if (!(std::fabs(steps) < 1e6)) return false;
            const double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number
            const double k = (steps + shift) - shift;
            // The second term exceeds the rounding (B31).
            off = std::fabs(value - (c.anchor + step * k)) + 0x1p-50 * (std::fabs(value) + std::fabs(c.anchor));
            number = static_cast<std::int32_t>(k) - c.least;
            return off <= tolerance;
        }
        // k of an absent entry's zero, or -1 if off the grid: rows must have the entry.
        std::int32_t zero(std::int64_t column) const { return columns[column].zero; }

        const Column* columns;
        double step, per_step, tolerance;
    };
    Quantizer quantizer() const { return {columns_.data(), step_, per_step_, tolerance_}; }
    // Sum of squared distances of these zeros from the grid.
    double zeros_off() const { return zeros_off_; }

private:
    using Column = Quantizer::Column;
    struct Sample;
    bool fit(const Sample& sample);
    bool cover(const Rows& vectors, const Features& features, Sample& sample);

    std::vector<Column> columns_;
    double step_ = 0, per_step_ = 0, tolerance_ = 0, off_ = 0, zeros_off_ = 0;
    std::int32_t levels_ = 0, numbers_ = 0;
};

// RBF kernel values on a grid: |x - z|^2 is D times the squared step, D a whole number (B30). exp of D is from a table
// if D has few values. Entries that no vector has multiply a row's values (B33). Off the grid, the relative error is
// infinite.
class GridTiles : public KernelTiles {
public:
    // order: the model's vectors, -1 for padding; whole panels. Null if the kernel is not RBF, the vectors are not on a
    // grid, or wide, sparse vectors would fill the memory with zeros.
    static std::unique_ptr<GridTiles> of(const SvmModel& model, const std::vector<std::int64_t>& order);
    std::unique_ptr<KernelTiles::Block> block() const override;
    void take(const Rows& rows, const std::int64_t* which, std::int64_t n, KernelTiles::Block& block) const override;
    double relative_error(const KernelTiles::Block& block, std::int64_t r) const override;
    void values(const KernelTiles::Block& block, std::int64_t from, std::int64_t to, float* out,
                std::int64_t stride) const override;
    void add_sums(const KernelTiles::Block& block, std::int64_t n, std::int64_t from, std::int64_t to,
                  const float* coef, Aligned<float>& scratch, double* sums) const override;

    bool binary() const { return binary_; }
    double step() const { return grid_.step(); }
    // Features per word: 32 bits, or 4 or 2 numbers; in codes, 16 or 8.
    int features_per_word() const { return per_word_; }
    // Per kernel value, for a row like the vectors: products, and nanoseconds (escalation.h).
    double products() const;
    double cost() const;
    // Largest Euclidean distance of a vector from its grid point.
    double off() const { return off_; }

private:
    struct Taken;
    GridTiles(const SvmModel& model, const std::vector<std::int64_t>& order, Features features, Grid grid);
    // A vector or row in words.
    struct Numbers {
        std::uint32_t* words;
        std::int32_t sum, squares;
        double off;              // squared distance from the grid
        double outside;          // sum of squares of entries that no vector has
        std::int64_t outsiders;  // number of those
    };
    static int place_in_words(const Grid& grid);
    bool write(const Rows& rows, std::int64_t row, Numbers& out) const;
    template <int per_word> bool write_numbers(const Rows& rows, std::int64_t row, Numbers& out) const;
    void lay_out(const Rows& vectors, const std::vector<std::int64_t>& order);
    void pack(const Rows& vectors, const std::vector<std::int64_t>& order);
    void tabulate();
    void take_codes(Taken& block) const;
    void take_words(Taken& block) const;
    bool in_codes() const { return per_word_ == 16 || per_word_ == 8; }
    std::int64_t vectors_at_a_time() const;

    double gamma_;
    const GridLoops& loops_;
    Features features_;
    Grid grid_;
    bool binary_;
    int per_word_;
    std::int32_t row_levels_;          // upper limit of rows' k
    std::int64_t words_ = 0;           // per vector
    double needed_ = 0;                // words of a tile of rows like the vectors
    std::int64_t required_ = 0;        // columns whose zero is off the grid
    std::vector<std::uint32_t> zero_;  // (words): a row without entries
    std::int32_t zero_sum_ = 0, zero_squares_ = 0;
    std::int64_t padded_ = 0;
    std::optional<GridCodes> codes_;     // if not in words
    PanelMatrix<std::uint32_t> blocks_;  // (padded, words)
    Aligned<std::int32_t> norms_;        // (padded)
    std::int32_t largest_squares_ = 0;
    double off_ = 0;
    Aligned<float> table_;
    bool complete_ = false;  // K is 0 beyond the table
    GridExponential exponential_{};
};

}  // namespace fastsvm

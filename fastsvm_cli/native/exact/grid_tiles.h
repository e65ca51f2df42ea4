// Kernel values from whole numbers, where features take few values on one grid.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "exact/grid.h"
#include "exact/grid_codes.h"
#include "exact/kernel_tiles.h"
#include "exact/svm_model.h"
#include "simd/aligned.h"
#include "simd/loops.h"
#include "text/features.h"

namespace fastsvm {

// RBF kernels of vectors on a grid: |x - z|^2 is D times the square of its step, D a whole number that is computed
// exactly: of two levels how many bits differ, of more |x|^2 + |z|^2 - 2 x.z of small numbers. K is exp of D, from a
// table where there are few such D that matter. A row whose values are not on the grid has an infinite relative error.
// Entries that no vector has put a factor exp(-gamma times their squares) to all values of their row.
class GridTiles : public KernelTiles {
public:
    // order: rows of the model's vectors, -1 for padding; `strip` vectors a strip, the last one filled up. Null where
    // the kernel is no RBF kernel, where the vectors are on no grid, or so wide and empty that words of zeros would
    // fill the memory.
    static std::unique_ptr<GridTiles> of(const SvmModel& model, const std::vector<std::int64_t>& order);
    std::unique_ptr<KernelTiles::Block> block() const override;
    void take(const Rows& rows, const std::int64_t* which, std::int64_t n, KernelTiles::Block& block) const override;
    double relative_error(const KernelTiles::Block& block, std::int64_t r) const override;
    void values(const KernelTiles::Block& block, std::int64_t from, std::int64_t to, float* out,
                std::int64_t stride) const override;
    void add_sums(const KernelTiles::Block& block, std::int64_t n, std::int64_t from, std::int64_t to,
                  const float* coef, Aligned<float>& scratch, double* sums) const override;

    // The padded vectors.
    std::int64_t size() const { return padded_; }
    // Two levels in every feature.
    bool binary() const { return binary_; }
    double step() const { return grid_.step(); }
    // In a word: 32 bits, 4 or 2 numbers, or 16 or 8 in codes of four bits.
    int features_per_word() const { return per_word_; }
    // Products of a kernel value, of a row like the vectors; and its nanoseconds by rung_costs.h.
    double products() const;
    double cost() const;
    // The largest Euclidean distance of a vector from where it is taken to stand.
    double off() const { return off_; }

private:
    struct Taken;
    GridTiles(const SvmModel& model, const std::vector<std::int64_t>& order, Features features, Grid grid);
    // A vector or row in words; false where it is off the grid.
    struct Numbers {
        std::uint32_t* words;
        std::int32_t sum, squares;
        std::int32_t largest;    // number
        double off;              // squared distance from where it stands
        double outside;          // squares of the entries that no vector has
        std::int64_t outsiders;  // how many those are
    };
    static int place_in_words(const Grid& grid);
    bool write(const Rows& rows, std::int64_t row, Numbers& out) const;
    template <int per_word> bool write_numbers(const Rows& rows, std::int64_t row, Numbers& out) const;
    void lay_out(const Rows& vectors, const std::vector<std::int64_t>& order);
    void place(const Rows& vectors, const std::vector<std::int64_t>& order);
    void tabulate();
    void take_codes(Taken& block) const;
    void take_words(Taken& block) const;
    bool in_codes() const { return per_word_ == 16 || per_word_ == 8; }
    bool uses_small_sums() const { return per_word_ == 4 && loops_.small > 0; }
    std::int64_t vectors_at_a_time() const;
    static GridRows rows_of(const Taken& block, std::size_t tile);
    GridStrips strips(std::int64_t from, std::int64_t to) const;

    double gamma_;
    const GridLoops& loops_;
    Features features_;
    Grid grid_;
    bool binary_;
    int per_word_;                        // features
    std::int32_t row_levels_;             // numbers of rows are below this
    std::int64_t words_ = 0;              // of a vector
    double needed_ = 0;                   // words that rows side by side need where they are like the vectors
    std::int64_t required_ = 0;           // columns whose zero is off the grid
    std::vector<unsigned char> flipped_;  // (d) of bits: which stand the other way round, so that few are set
    // Of bits: a value that stands for the bit 1 where an absent entry is 0, and the square of how far it is from
    // there.
    struct Usual {
        double value = std::numeric_limits<double>::quiet_NaN(), off = 0;
    };
    std::vector<Usual> usual_;         // (d)
    std::vector<std::uint32_t> zero_;  // (words): a row without entries
    std::int32_t zero_sum_ = 0, zero_squares_ = 0, zero_largest_ = 0;
    std::int64_t padded_ = 0;
    std::optional<GridCodes> codes_;  // what vectors are in, rather than in words
    Aligned<std::uint32_t> blocks_;   // (strips, words, strip)
    Aligned<std::int32_t> norms_;     // (padded)
    std::int32_t largest_squares_ = 0, largest_number_ = 0;
    double off_ = 0;
    Aligned<float> table_;
    bool complete_ = false;  // the table: beyond, K is nothing
    GridExponential exponential_{};
};

}  // namespace fastsvm

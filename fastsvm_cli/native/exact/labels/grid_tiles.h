// GridTiles: kernel values of the level grid, from whole numbers.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exact/labels/grid.h"
#include "exact/labels/kernel_tiles.h"
#include "exact/reference/reference.h"
#include "simd/aligned.h"
#include "simd/loops.h"
#include "text/rows.h"

namespace fastsvm {

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

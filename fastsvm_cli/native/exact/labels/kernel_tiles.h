// Tiles of kernel values in low precision: the interface, and the level single precision.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "exact/reference/reference.h"
#include "exact/values/panels.h"
#include "simd/loops.h"
#include "simd/parallel.h"
#include "text/rows.h"

namespace fastsvm {

// Rows per step: the values of vectors_at_once vectors stay near, and vectors of many features are
// read from memory rarely.
constexpr std::int64_t rows_at_once = 192, vectors_at_once = 4 * panel;

// RBF kernel values in single precision, with error bounds. Thread-safe: each thread leases a Block.
class KernelTiles {
public:
    // Scratch memory of a thread.
    class Block {
    public:
        virtual ~Block() = default;
    };
    virtual ~KernelTiles() = default;
    virtual std::unique_ptr<Block> block() const = 0;
    Pool<Block>::Lease leased_block() const {
        return blocks_.lease([this] { return block(); });
    }
    // Prepares the n rows `which`, which then are the block's taken rows.
    virtual void take(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const = 0;
    // |value - K| <= relative_error K + 2^-126 for all values of taken row r; infinite if they are meaningless.
    virtual double relative_error(const Block& block, std::int64_t r) const = 0;
    // out[r * stride + s - from] = K(z_r, x_s) in single precision, for taken rows and padded vectors from <= s < to,
    // multiples of `panel`; finite for padding.
    virtual void values(const Block& block, std::int64_t from, std::int64_t to, float* out,
                        std::int64_t stride) const = 0;
    // Adds partial sums of coef[s - from] K(z_r, x_s) to sums[r * lanes + ...], for the n taken rows: at most four
    // terms in single precision, the rest in double (B25).
    virtual void add_sums(const Block& block, std::int64_t n, std::int64_t from, std::int64_t to, const float* coef,
                          Aligned<float>& scratch, double* sums) const {
        scratch.resize(static_cast<std::size_t>(n * vectors_at_once));
        for (std::int64_t s = from; s < to; s += vectors_at_once) {
            const std::int64_t count = std::min(vectors_at_once, to - s);
            values(block, s, s + count, scratch.data(), vectors_at_once);
            loops().products->add_products(n, count, coef + (s - from), scratch.data(), vectors_at_once, sums);
        }
    }

private:
    Pool<Block> blocks_;
};

// SingleTiles: kernel values of the level single precision.

// RBF kernel values in single precision (B22 to B24 in PROOFS.md). Vectors and rows are centered at the vectors' mean:
// smaller norms, less rounding.
class SingleTiles final : public KernelTiles {
public:
    // order: rows of the model's vectors, -1 for padding; whole panels.
    SingleTiles(const SvmModel& model, const std::vector<std::int64_t>& order);
    // Whether single precision suits the model. The constructor requires it.
    static bool holds(const SvmModel& model);

    std::unique_ptr<Block> block() const override;
    void take(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const override;
    double relative_error(const Block& block, std::int64_t r) const override;
    void values(const Block& block, std::int64_t from, std::int64_t to, float* out, std::int64_t stride) const override;
    void add_sums(const Block& block, std::int64_t n, std::int64_t from, std::int64_t to, const float* coef,
                  Aligned<float>& scratch, double* sums) const override;

private:
    struct Taken;
    double center(const Rows& rows, std::int64_t row, Aligned<double>& spread, float* out, double* sums) const;
    double relative_error(double squares, double weighted, double lost, double outside, double count) const;

    double factor_;  // factor^2 = gamma log2(e) scales coordinates: K = 2^-|x - z|^2
    Features features_;
    std::int64_t columns_, vectors_used_;        // numbers of features, and of vectors without padding at the end
    std::int64_t column_blocks_, column_block_;  // columns are summed in `column_blocks_` blocks of `column_block_`
    std::vector<std::int32_t> place_;            // (columns): in a row panel; large columns last, for fewer roundings
    Aligned<double> center_;                     // (columns)
    Aligned<double> weights_;                    // (columns): roundings of a column's product
    PanelMatrix<float> vectors_;                 // (padded, columns)
    Aligned<float> norms_;                       // (padded)
    double longest_ = 0, weighted_ = 0, lost_ = 0;  // maxima over the vectors: length, weighted length, rounding
};

}  // namespace fastsvm

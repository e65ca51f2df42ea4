// Kernel values of many rows with many support vectors at a time, in single precision, each with a proven relative
// error: the first rungs of the exact evaluation.
#pragma once
#include <cstdint>
#include <memory>

#include "simd/aligned.h"
#include "simd/pool.h"
#include "text/rows.h"

namespace fastsvm {

// Rows that the sums of kernel values take at a time: with so many, the values of vectors_at_once vectors stay in the
// first-level cache.
constexpr std::int64_t rows_at_once = 48;

class KernelTiles {
public:
    // What one thread holds of the rows it is at.
    class Block {
    public:
        virtual ~Block() = default;
    };
    virtual ~KernelTiles() = default;
    virtual std::unique_ptr<Block> block() const = 0;
    // One that nobody uses, of this model's.
    Pool<Block>::Lease kept_block() const {
        return blocks_.lease([this] { return block(); });
    }
    // Takes n rows, those of these numbers.
    virtual void take(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const = 0;
    // |value - K| <= relative_error K + 2^-126 for every value of row r of those taken; infinite where this rung cannot
    // tell, whose values then mean nothing.
    virtual double relative_error(const Block& block, std::int64_t r) const = 0;
    // out[r * stride + s - from] = K(z_r, x_s) for all rows taken and the padded vectors from <= s < to, multiples of
    // `strip`; finite numbers for the padding, too.
    virtual void values(const Block& block, std::int64_t from, std::int64_t to, float* out,
                        std::int64_t stride) const = 0;
    // sums[r * lanes + ...] += partial sums of coef[s - from] K(z_r, x_s) likewise, for the n rows taken: of at most
    // four terms in single precision, the rest in double (B25). scratch: for values on their way.
    virtual void add_sums(const Block& block, std::int64_t n, std::int64_t from, std::int64_t to, const float* coef,
                          Aligned<float>& scratch, double* sums) const;

private:
    Pool<Block> blocks_;
};

}  // namespace fastsvm

// Kernel values in single precision, with the error of every one of them.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "exact/kernel_tiles.h"
#include "exact/svm_model.h"
#include "simd/aligned.h"
#include "simd/tiles.h"
#include "text/features.h"

namespace fastsvm {

// RBF kernels alone. Vectors and rows stand about the mean of the vectors, so that their norms, and with them the
// rounding of their distances, are small. The statements B22 to B24 stand in bounds.py.
class SingleTiles final : public KernelTiles {
public:
    // order: rows of the model's vectors, -1 for padding; whole strips.
    SingleTiles(const SvmModel& model, const std::vector<std::int64_t>& order);
    // Whether single precision can hold this model at all: a condition for everything below.
    static bool holds(const SvmModel& model);

    std::int64_t size() const { return static_cast<std::int64_t>(norms_.size()); }
    std::unique_ptr<Block> block() const override;
    void take(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const override;
    double relative_error(const Block& block, std::int64_t r) const override;
    void values(const Block& block, std::int64_t from, std::int64_t to, float* out, std::int64_t stride) const override;
    // The values stay in registers, where the columns of a strip fit a first-level cache.
    void add_sums(const Block& block, std::int64_t n, std::int64_t from, std::int64_t to, const float* coef,
                  Aligned<float>& scratch, double* sums) const override;

private:
    struct Taken;
    double relative_error(double squares, double weighted, double lost, double outside, double count) const;

    double factor_;  // gamma log2(e) = factor^2: of the coordinates, so that K = 2^-|x - z|^2
    Features features_;
    std::int64_t columns_, padded_columns_;  // features, and whole `lanes`
    std::int64_t pieces_, piece_;            // columns are added up in so many pieces of so many
    std::vector<std::int64_t> position_;     // (features): large columns stand last, where fewest roundings follow
    Aligned<double> center_;                 // (padded columns)
    Aligned<double> weights_;                // (padded columns): how many roundings a product of this column passes
    Aligned<float> vectors_;                 // (strips, columns, strip)
    Aligned<float> norms_;                   // (padded)
    double longest_ = 0, weighted_ = 0, lost_ = 0;  // over the vectors: largest length, weighted length, rounding
};

}  // namespace fastsvm

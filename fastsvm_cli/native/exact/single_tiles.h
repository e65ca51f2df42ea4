// Kernel values in single precision, with error bounds.
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

// RBF only. Vectors and rows are centered at the vectors' mean: smaller norms, less rounding. B22 to B24 are in
// bounds.py.
class SingleTiles final : public KernelTiles {
public:
    // order: rows of the model's vectors, -1 for padding; whole strips.
    SingleTiles(const SvmModel& model, const std::vector<std::int64_t>& order);
    // Whether single precision suits the model. Required below.
    static bool holds(const SvmModel& model);

    std::int64_t size() const { return static_cast<std::int64_t>(norms_.size()); }
    std::unique_ptr<Block> block() const override;
    void take(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const override;
    double relative_error(const Block& block, std::int64_t r) const override;
    void values(const Block& block, std::int64_t from, std::int64_t to, float* out, std::int64_t stride) const override;
    // Values stay in registers if a strip's columns fit the first-level cache.
    void add_sums(const Block& block, std::int64_t n, std::int64_t from, std::int64_t to, const float* coef,
                  Aligned<float>& scratch, double* sums) const override;

private:
    struct Taken;
    double relative_error(double squares, double weighted, double lost, double outside, double count) const;

    double factor_;  // gamma log2(e) = factor^2: scales the coordinates, so that K = 2^-|x - z|^2
    Features features_;
    std::int64_t columns_, padded_columns_;         // features, and the same rounded up to `lanes`
    std::int64_t pieces_, piece_;                   // columns are summed in `pieces_` pieces of `piece_`
    std::vector<std::int64_t> position_;            // (features): large columns last: fewest roundings follow
    Aligned<double> center_;                        // (padded columns)
    Aligned<double> weights_;                       // (padded columns): roundings that a product of the column passes
    Aligned<float> vectors_;                        // (strips, columns, strip)
    Aligned<float> norms_;                          // (padded)
    double longest_ = 0, weighted_ = 0, lost_ = 0;  // maxima over the vectors: length, weighted length, rounding
};

}  // namespace fastsvm

// Sparse vectors laid out for their kernel values with sparse rows: strips.h where few entries are shared.
#pragma once
#include <cstdint>
#include <vector>

#include "exact/kernel.h"
#include "simd/aligned.h"
#include "text/features.h"

namespace fastsvm {

// A list for every feature of the vectors that have it, so that a row costs the entries it shares with them. Kernels of
// inner products, and rbf; neither normalized nor by differences.
class ColumnLists {
public:
    // order: rows of `vectors`, -1 for padding; a multiple of `lanes`. features: those that any of them has.
    ColumnLists(const Kernel& kernel, const Rows& vectors, const Features& features,
                const std::vector<std::int64_t>& order);
    std::int64_t size() const { return static_cast<std::int64_t>(norms_.size()); }
    // out[s] = K(z, x_s) for every vector in the order: (size). row: by the features' columns.
    void kernel_values(const Columns& row, double squared_norm, double* out) const;

private:
    Kernel kernel_;
    Aligned<double> norms_;            // in the order: |x|^2, 0 in the padding
    std::vector<std::int64_t> start_;  // (d + 1)
    std::vector<std::int32_t> vector_;
    std::vector<double> value_;
};

}  // namespace fastsvm

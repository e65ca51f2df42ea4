// Sparse vectors laid out for sparse rows; instead of strips.h if few entries are shared.
#pragma once
#include <cstdint>
#include <vector>

#include "exact/kernel.h"
#include "simd/aligned.h"
#include "text/features.h"

namespace fastsvm {

// Per feature, the vectors that have it: a row costs the entries it shares. Kernels of inner products, and rbf; not
// normalized, not by differences.
class ColumnLists {
public:
    // order: rows of `vectors`, -1 for padding, in whole `lanes`. features: those that occur.
    ColumnLists(const Kernel& kernel, const Rows& vectors, const Features& features,
                const std::vector<std::int64_t>& order);
    std::int64_t size() const { return static_cast<std::int64_t>(norms_.size()); }
    // out[s] = K(z, x_s) for every vector in the order: (size). row: by the features' columns.
    void kernel_values(const Columns& row, double squared_norm, double* out) const;

private:
    Kernel kernel_;
    Aligned<double> norms_;            // in the order: |x|^2, 0 for padding
    std::vector<std::int64_t> start_;  // (d + 1)
    std::vector<std::int32_t> vector_;
    std::vector<double> value_;
};

}  // namespace fastsvm

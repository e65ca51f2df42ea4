// ColumnLists: kernel values of a row with sparse vectors.
#pragma once
#include <cstdint>
#include <vector>

#include "exact/reference/kernel.h"
#include "simd/aligned.h"
#include "text/features.h"

namespace fastsvm {

// Vectors listed by feature, instead of panels if few entries are shared. For RBF, and kernels of inner products that
// are not normalized.
class ColumnLists {
public:
    // order: rows of `vectors`, -1 for padding, in whole `lanes`.
    ColumnLists(const Kernel& kernel, const Rows& vectors, const Features& features,
                const std::vector<std::int64_t>& order);
    std::int64_t size() const { return static_cast<std::int64_t>(norms_.size()); }
    // out[s] = K(z, x_s) for every vector of the order: (size). row: z.
    void kernel_values(const Columns& row, double squared_norm, double* out) const;

private:
    Kernel kernel_;
    Aligned<double> norms_;            // |x|^2, in that order
    std::vector<std::int64_t> start_;  // (d + 1)
    std::vector<std::int32_t> vector_;
    std::vector<double> value_;
};

}  // namespace fastsvm

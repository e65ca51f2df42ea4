// KernelMatrix: blocks of kernel values, for compilers of models.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exact/reference/reference.h"
#include "exact/values/panels.h"
#include "text/rows.h"

namespace fastsvm {

// Kernel values K(z, x) of any rows z with fixed vectors x, in double precision. Values differ from K by rounding only
// (Rounding::kernel_error) and do not depend on the number of threads.
class KernelMatrix {
public:
    // Throws std::invalid_argument for a precomputed kernel.
    KernelMatrix(const Kernel& kernel, std::shared_ptr<const Rows> vectors);
    std::int64_t size() const { return size_; }
    const Rows& vectors() const { return *vectors_; }
    // K(x, x): (size).
    std::vector<double> diagonal() const;
    // out[r * size + s] = K(z_r, x_s): (rows, size)
    void values(const Rows& rows, double* out) const;
    // The matrix times weights (size, columns), without storing it: out is (rows, columns). The order of summation
    // depends on rows, size and columns only.
    void times(const Rows& rows, const double* weights, std::int64_t columns, double* out) const;

private:
    // Dense vectors in panels, rows in panels or by entry; sparse vectors by entry, rows in panels; sparse vectors in
    // lists, rows one by one.
    enum class Way { vectors_in_panels, rows_in_panels, lists };
    struct Block;
    Way way(const Rows& rows) const;
    void take(const Rows& rows, Way way, std::int64_t first, std::int64_t count, Block& block) const;
    // out[r * stride + s - from] for the rows taken and from <= s < to, multiples of `panel` (`to` may be the size), as
    // is the padded width of `out`.
    void fill(const Block& block, std::int64_t from, std::int64_t to, double* out, std::int64_t stride) const;
    // out[(r - first) * size + s], for `count` rows.
    void by_lists(const Rows& rows, std::int64_t first, std::int64_t count, double* out) const;

    Kernel kernel_;
    std::int64_t size_;
    Features features_;
    std::shared_ptr<const Rows> vectors_;
    std::optional<Panels> panels_;  // or
    std::optional<ColumnLists> lists_;
};

// A dense matrix (rows, d) as LIBSVM's features 1, ..., d, without zeros. Non-finite numbers stay.
Rows rows_of_matrix(const double* matrix, std::int64_t rows, std::int64_t d);

}  // namespace fastsvm

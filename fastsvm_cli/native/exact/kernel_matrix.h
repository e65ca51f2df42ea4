// Blocks of kernel values, K(z, x) of any rows z with the same vectors x: what compilers ask of the core.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exact/column_lists.h"
#include "exact/kernel.h"
#include "exact/strips.h"
#include "text/features.h"

namespace fastsvm {

// In double precision, by the register tiles and lists of the exact evaluation, whichever costs less. A value differs
// from K by rounding alone (Rounding::kernel_error) and is the same whatever the number of threads.
class KernelMatrix {
public:
    // Throws std::invalid_argument for a precomputed kernel.
    KernelMatrix(const Kernel& kernel, std::shared_ptr<const Rows> vectors);
    std::int64_t size() const { return size_; }
    const Rows& vectors() const { return *vectors_; }
    // K(x, x) of every vector: (size)
    std::vector<double> diagonal() const;
    // out[r * size + s] = K(z_r, x_s): (rows, size)
    void values(const Rows& rows, double* out) const;
    // The matrix times weights (size, columns), without its being formed: out is (rows, columns). Sums are added up in
    // an order that rows, size and columns alone decide.
    void times(const Rows& rows, const double* weights, std::int64_t columns, double* out) const;

private:
    // Dense vectors in strips, met by rows in panels or entry by entry; sparse ones entry by entry by rows that stand
    // in strips in their place; or sparse ones in lists, by sparse rows, one by one.
    enum class Way { vectors_in_strips, rows_in_strips, lists };
    struct Block;
    Way way(const Rows& rows) const;
    void take(const Rows& rows, Way way, std::int64_t first, std::int64_t count, Block& block) const;
    // out[r * stride + s - from] for the rows taken and from <= s < to; from and, up to `size`, to are multiples of
    // `strip`, to which the rows of `out` are filled up.
    void fill(const Block& block, std::int64_t from, std::int64_t to, double* out, std::int64_t stride) const;
    // out[(r - first) * size + s], of `count` rows from `first` on.
    void by_lists(const Rows& rows, std::int64_t first, std::int64_t count, double* out) const;

    Kernel kernel_;
    std::int64_t size_;
    Features features_;
    std::shared_ptr<const Rows> vectors_;
    std::optional<Strips> strips_;  // or
    std::optional<ColumnLists> lists_;
};

// The rows of a dense matrix (rows, d), as LIBSVM's features 1, ..., d: zeros are left out; numbers that are not finite
// stay, and make kernel values that are not.
Rows rows_of_matrix(const double* matrix, std::int64_t rows, std::int64_t d);

}  // namespace fastsvm

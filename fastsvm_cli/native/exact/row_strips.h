// Rows laid out for their kernel values with one vector at a time, many rows side by side: strips.h the other way
// round.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "exact/strips.h"
#include "simd/aligned.h"

namespace fastsvm {

// Rows stand in slots 0, 1, 2, ..., `strip` of them to a strip, dense by column, so that a kernel value with one vector
// costs a row what a kernel value costs, and a row can stop after any of them. Where the vectors are sparse, the rows'
// own entries stand for themselves. What is computed of a row does not depend on the rows beside it.
class RowStrips {
public:
    // One, two or four vectors at a time. rows: as Strips::take has them; columns: all their numbers, `stride` apart,
    // or null.
    struct Vectors {
        int count = 0;
        const StripRow* rows[4];
        const double* columns[4];
        std::int64_t stride = 1;
        void add(const StripRow* row, const double* numbers) { rows[count] = row, columns[count++] = numbers; }
    };
    // How many of so many vectors that are left are taken now.
    static int together(std::int64_t left) { return left >= 4 ? 4 : left >= 2 ? 2 : 1; }
    // vectors: whose kernel and columns count; they must outlive this.
    explicit RowStrips(const Strips& vectors);
    // No rows are left; those that are added now, before any of them is removed, are of these.
    void clear(const Rows& rows);
    void add(std::int64_t row);
    // The last row takes this slot.
    void remove(std::int64_t slot);
    std::int64_t size() const { return size_; }
    std::int64_t row(std::int64_t slot) const { return row_[static_cast<std::size_t>(slot)]; }
    // K(x, z) for every row z. out: strips of rows, `stride` apart, each (vectors, strip); the last
    // one is filled up to a multiple of `lanes`.
    void kernel_values(const Vectors& x, double* out, std::int64_t stride);
    // |x - z|^2 likewise.
    void squared_distances(const Vectors& x, double* out, std::int64_t stride);
    // Whether products go column by column where they can, and not entry by entry.
    static bool by_column(int count, std::int64_t entries, std::int64_t features);

private:
    // How many slots of the strip that begins here are computed: the rows there, rounded up to `lanes`.
    std::int64_t filled(std::int64_t at) const {
        return (std::min<std::int64_t>(strip, size_ - at) + lanes - 1) / lanes * lanes;
    }
    void dots(const Vectors& x, double* out, std::int64_t stride);
    void scatter(const StripRow& x, double factor);
    double* place(std::int64_t slot) { return z_.data() + slot / strip * features_ * strip + slot % strip; }

    const Strips& vectors_;
    Kernel kernel_;
    std::int64_t features_, size_ = 0;
    const Rows* rows_ = nullptr;
    std::vector<std::int64_t> row_;  // (slots)
    Aligned<double> norms_, outside_,
        inverse_roots_;            // (slots): |z|^2; of the entries that no vector has; 1 / sqrt(k(z, z))
    Aligned<double> z_;            // (strips, features, strip), when dense; empty slots hold anything
    std::vector<double> scratch_;  // (features), zeros between calls
};

}  // namespace fastsvm

// RowsInPanels: kernel values of rows in panels with one, two or four vectors at a time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "exact/values/panels.h"
#include "simd/aligned.h"

namespace fastsvm {

// Rows in panels, for one vector at a time: the reverse of panels.h. Dense by column: a row pays per kernel value, and
// can stop after any. Sparse vectors use the rows' own entries. Results of a row do not depend on other rows.
class RowsInPanels {
public:
    // One, two or four vectors. rows: from Panels::take; columns: their numbers, `stride` apart, or null.
    struct Vectors {
        int count = 0;
        const PreparedRow* rows[4];
        const double* columns[4];
        std::int64_t stride = 1;
        void add(const PreparedRow* row, const double* numbers) { rows[count] = row, columns[count++] = numbers; }
    };
    // Number of vectors to take next.
    static int together(std::int64_t left) { return left >= 4 ? 4 : left >= 2 ? 2 : 1; }
    // vectors: gives the kernel and the columns; must outlive this.
    explicit RowsInPanels(const Panels& vectors);
    // Removes all rows. The next ones, added before any removal, are from `rows`.
    void clear(const Rows& rows);
    void add(std::int64_t row);
    // Removes a row; the last row takes its slot.
    void remove(std::int64_t slot);
    std::int64_t size() const { return size_; }
    std::int64_t row(std::int64_t slot) const { return row_[static_cast<std::size_t>(slot)]; }
    // K(x, z) for every row z. out: panels of rows, `stride` apart, each (vectors, panel), the last in whole `lanes`.
    void kernel_values(const Vectors& x, double* out, std::int64_t stride);
    // |x - z|^2 likewise.
    void squared_distances(const Vectors& x, double* out, std::int64_t stride);
    // Whether products by column are cheaper than by entry.
    static bool by_column(int count, std::int64_t entries, std::int64_t features);

private:
    // Slots computed in the panel at `at`.
    std::int64_t filled(std::int64_t at) const {
        return (std::min<std::int64_t>(panel, size_ - at) + lanes - 1) / lanes * lanes;
    }
    void dots(const Vectors& x, double* out, std::int64_t stride);
    void scatter(const PreparedRow& x, double factor);

    const Panels& vectors_;
    Kernel kernel_;
    std::int64_t features_, size_ = 0;
    const Rows* rows_ = nullptr;
    std::vector<std::int64_t> row_;  // (slots)
    Aligned<double> norms_, outside_,
        inverse_roots_;            // (slots): |z|^2; of entries that no vector has; 1 / sqrt(k(z, z))
    PanelMatrix<double> z_;        // (slots, features), if dense
    std::vector<double> scratch_;  // (features), zeros between calls
};

}  // namespace fastsvm

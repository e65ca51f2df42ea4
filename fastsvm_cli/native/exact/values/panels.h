// Aligned arrays and matrices in panels. Kernel values, in double precision, of rows with vectors in panels (Panels)
// or, if sparse, in lists (ColumnLists), and blocks of them (KernelMatrix).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "exact/reference/reference.h"
#include "simd/loops.h"
#include "text/rows.h"

namespace fastsvm {

// Allocates memory that begins at a cache line of 64 bytes.
template <class T> struct CacheLines {
    using value_type = T;
    static constexpr std::align_val_t line{64};
    CacheLines() = default;
    template <class U> CacheLines(const CacheLines<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, line); }
    template <class U> bool operator==(const CacheLines<U>&) const { return true; }
    template <class U> bool operator!=(const CacheLines<U>&) const { return false; }
};

template <class T> using Aligned = std::vector<T, CacheLines<T>>;

// A matrix in panels of `wide` rows, interleaved by column: (panels, columns, wide).
template <class T, int wide = panel> class PanelMatrix {
public:
    PanelMatrix() = default;
    PanelMatrix(std::int64_t rows, std::int64_t columns, T all = T()) { assign(rows, columns, all); }
    // Sets all numbers, also those of rows that fill up the last panel.
    void assign(std::int64_t rows, std::int64_t columns, T all = T()) {
        columns_ = columns;
        numbers_.assign(static_cast<std::size_t>(whole(rows, wide) * columns), all);
    }
    // Keeps numbers if the columns stay; new ones are 0.
    void resize(std::int64_t rows, std::int64_t columns) {
        columns_ = columns;
        numbers_.resize(static_cast<std::size_t>(whole(rows, wide) * columns));
    }
    // A number, followed by those of the panel's next rows; its row's next column is `wide` further.
    T* at(std::int64_t row, std::int64_t column) {
        return numbers_.data() + (row / wide * columns_ + column) * wide + row % wide;
    }
    const T* at(std::int64_t row, std::int64_t column) const {
        return numbers_.data() + (row / wide * columns_ + column) * wide + row % wide;
    }

private:
    std::int64_t columns_ = 0;
    Aligned<T> numbers_;
};

// A row, or several, as Panels::take prepares them for kernel values; reused.
struct PreparedRow {
    Columns columns;
    double squared_norm = 0;
    double outside_norm = 0;  // of entries that no vector has, if by differences
    double inverse_root = 1;  // 1 / sqrt(k(z, z)), if normalized
};

struct PreparedRows {
    std::vector<PreparedRow> rows;
    std::vector<std::int64_t> in_row_panels, by_entry;  // row numbers: in register tiles, and others
    PanelMatrix<double, row_panel> row_panels;          // (rows, d)
    Aligned<double> row_panel_norms;                    // (rows, in whole panels): |z|^2
};

// Vectors in panels, dense by column (a row costs its own non-zeros times the vectors), or, if sparse, by entry.
class Panels {
public:
    // order: rows of `vectors`, -1 for padding; whole panels. Not for precomputed kernels.
    Panels(const Kernel& kernel, const Rows& vectors, const std::vector<std::int64_t>& order);
    const Kernel& kernel() const { return kernel_; }
    std::int64_t size() const { return padded_; }
    // Prepares a row, or the n rows `which`.
    void take(const Rows& rows, std::int64_t row, PreparedRow& out) const;
    void take(const Rows& rows, const std::int64_t* which, std::int64_t n, PreparedRows& out) const;
    // K(z, x_s) for from <= s < to, multiples of `panel`. scratch: (features), zeros before
    // and after.
    void kernel_values(const PreparedRow& row, std::int64_t from, std::int64_t to, double* out,
                       std::vector<double>& scratch) const;
    // Rows in row panels: out[r * stride + s - from]. Values of a row do not depend on other rows.
    void row_panel_kernel_values(const PreparedRows& rows, std::int64_t from, std::int64_t to, double* out,
                                 std::int64_t stride) const;
    // Whether row_panel_sums works: RBF, at most a few hundred columns.
    bool sums_in_row_panels() const;
    // For the rows in panels, in order: out[i] = sum of coef[s - from] K, with row_panel_kernel_values summed as in
    // Loops::dot.
    void row_panel_sums(const PreparedRows& rows, std::int64_t from, std::int64_t to, const double* coef,
                        double* out) const;
    bool dense() const { return dense_; }
    std::int64_t features() const { return features_.size(); }
    const Features& known() const { return features_; }
    // Vector s and the next ones of its panel, by column, `panel` apart; dense only.
    const double* columns_from(std::int64_t s) const { return blocks_.at(s, 0); }

private:
    void dots(const PreparedRow& row, std::int64_t from, std::int64_t to, double* out,
              std::vector<double>& scratch) const;
    void squared_distances(const PreparedRow& row, std::int64_t from, std::int64_t to, double* out,
                           std::vector<double>& scratch) const;
    void from_dots(const PreparedRow& row, std::int64_t from, std::int64_t to, double* out) const;
    Kernel kernel_;
    Features features_;
    std::int64_t padded_ = 0;
    bool dense_ = true;
    Aligned<double> norms_;              // (padded)
    std::vector<double> inverse_roots_;  // (padded): 1 / sqrt(k(x, x)), if normalized
    PanelMatrix<double> blocks_;         // (padded, d)
    std::vector<std::int64_t> start_;    // (padded + 1), if sparse
    std::vector<std::int32_t> column_;
    std::vector<double> value_;
};

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

// Least share of non-zeros for dense panels: a scattered product costs about as much as eight side by side.
constexpr double sparse_density = 1.0 / 16;
inline bool dense(const Rows& vectors, std::int64_t features) {
    return static_cast<double>(vectors.indices.size()) >=
           sparse_density * static_cast<double>(vectors.rows) * static_cast<double>(features);
}
// Whether a row with this many entries meets dense panels in register tiles, not entry by entry.
bool in_tiles(double entries, std::int64_t features);
// Vectors whose panels stay in the first-level cache, and kernel values in the second, while a block's rows pass.
std::int64_t vectors_per_tile(std::int64_t features);
// 0, 1, ..., n - 1, then -1 up to a whole panel.
std::vector<std::int64_t> in_order(std::int64_t n);
// LIBSVM indices in the vectors, increasing.
std::vector<std::int32_t> used_indices(const Rows& vectors);
// Writes a row's entries by column, `apart` numbers from column to column. Returns the squared norm of its entries
// without a column.
double spread(const Features& features, const Rows& rows, std::int64_t row, double* out, std::int64_t apart = 1);

// RowsInPanels: kernel values of rows in panels with one, two or four vectors at a time.

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

// KernelMatrix: blocks of kernel values, for compilers of models.

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

// Rows: compressed sparse rows, parsed from text or taken from arrays.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace fastsvm {

// An uninitialised array (initialisation costs a pass over the memory), in its own or another object's memory. Throws
// std::bad_alloc.
template <class T> class Array {
public:
    Array() = default;
    explicit Array(std::int64_t n) { resize(n); }
    // n numbers that `owner` keeps alive; never copied, freed or written.
    Array(const T* data, std::int64_t n, std::shared_ptr<const void> owner)
        : data_(const_cast<T*>(data)), size_(n), owner_(std::move(owner)) {}
    Array(Array&& other) noexcept { swap(other); }
    Array& operator=(Array&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Array() {
        if (!owner_) std::free(data_);
    }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::int64_t i) { return data_[i]; }
    const T& operator[](std::int64_t i) const { return data_[i]; }
    std::int64_t size() const { return size_; }
    // Makes it an array of n numbers. In its own memory, keeps those that it had; the others are uninitialised.
    void resize(std::int64_t n) {
        if (n > capacity_) {
            void* const larger = std::realloc(owner_ ? nullptr : data_, static_cast<std::size_t>(n) * sizeof(T));
            if (!larger) throw std::bad_alloc();
            data_ = static_cast<T*>(larger);
            capacity_ = n;
            owner_.reset();
        }
        size_ = n;
    }

private:
    void swap(Array& other) {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(owner_, other.owner_);
    }
    T* data_ = nullptr;
    std::int64_t size_ = 0, capacity_ = 0;  // capacity: of its own memory
    std::shared_ptr<const void> owner_;     // of another object's memory
};

// Counts of entries before scaling, and of dropped ones.
struct ScalingCounts {
    std::int64_t before = 0;          // entries in the text; dense text: nonzero ones
    std::int64_t unknown = 0;         // of these, dropped: not in the range file
    std::int32_t unknown_index = -1;  // least of these features; -1: none

    // Counts dropped entries of a feature.
    void leave_out(std::int32_t index, std::int64_t entries = 1) {
        unknown += entries;
        if (unknown_index < 0 || index < unknown_index) unknown_index = index;
    }
    void add(const ScalingCounts& other) {
        before += other.before;
        if (other.unknown) leave_out(other.unknown_index, other.unknown);
    }
};

// Lines of a text that are not rows.
struct Gap {
    std::int64_t row;  // row after them, from 0
    std::int64_t lines;
    std::int64_t bad = 0;  // of these, malformed; the others are comments
};

// Line numbers of rows, which increase, between gaps. first_line: of row 0 without the gaps before it. first_row:
// number of row 0 in the gaps.
std::vector<std::int64_t> lines_of(const std::vector<std::int64_t>& rows, std::int64_t first_line,
                                   const std::vector<Gap>& gaps, std::int64_t first_row = 0);

// Rows of LIBSVM text, as compressed sparse rows. Leading numbers precede the index:value pairs: 1 for data (the
// label), nr_class - 1 for support vectors (the coefficients), 0 for unlabelled data.
struct Rows {
    std::int64_t rows = 0;
    std::int64_t first_line = 1;  // number of the first line, a row or a gap
    int leading_count = 1;
    std::int32_t max_index = 0;   // no index is larger
    Array<double> leading;        // (rows, leading_count)
    Array<std::int64_t> indptr;   // (rows + 1)
    Array<std::int32_t> indices;  // (nnz), increasing within a row (see `increasing`)
    Array<double> values;         // (nnz)
    Array<double> squared_norms;  // (rows)
    ScalingCounts scaling;        // of rows read and scaled
    std::vector<Gap> gaps;        // in order; at most one before a row
    bool increasing = true;       // indices within every row; false only with Format::any_order

    Rows() = default;
    // Rows with uninitialised memory for `rows` rows and this many entries, the first from entry 0.
    Rows(std::int64_t rows, std::int64_t entries, int leading_count) { reset(rows, entries, leading_count); }
    // Becomes such rows, in the same memory if that is large enough.
    void reset(std::int64_t rows, std::int64_t entries, int leading_count);
    // Leaves out what follows the first rows.
    void truncate(std::int64_t first_rows);
    // Sets a row's squared norm, summed in the parser's order. Returns whether text could hold the row: finite numbers,
    // increasing indices of 0 or more.
    bool complete(std::int64_t row);
    // Message of the first entry that text could not hold, or "".
    std::string error(std::int64_t row) const;
    // Sets max_index from rows of increasing indices.
    void find_max_index();
    // Appends a gap.
    void add_gap(const Gap& gap);
    // Line numbers of rows, which increase.
    std::vector<std::int64_t> line_numbers(const std::vector<std::int64_t>& requested) const {
        return lines_of(requested, first_line, gaps);
    }
    std::int64_t begin(std::int64_t row) const { return indptr[row]; }
    std::int64_t end(std::int64_t row) const { return indptr[row + 1]; }
    // Whether the row has entries, of consecutive indices: dense rows without zeros.
    bool consecutive(std::int64_t row) const {
        const std::int64_t first = begin(row), last = end(row) - 1;
        return increasing && first <= last && indices[last] - indices[first] == last - first;
    }
};

// Copies the requested rows, in this order, without line numbers. Throws std::out_of_range.
Rows select_rows(const Rows& from, const std::vector<std::int64_t>& requested);

// Copies the rows first, ..., last - 1, with line numbers. Throws std::out_of_range.
Rows slice_rows(const Rows& from, std::int64_t first, std::int64_t last);

// Concatenates all rows of all parts, as if parsed from one text; no parts give no rows, with one leading number.
// Throws std::invalid_argument if leading_count differs.
Rows concatenate_rows(const std::vector<std::shared_ptr<const Rows>>& parts);

// Formats rows as LIBSVM text, with shortest round-trip numbers. lines: one number per row, added as a comment (` #
// 17`); unlabelled rows then get the label 0 (unknown), and negative zeros their sign.
std::string format_rows(const Rows& rows, const std::vector<std::int64_t>& lines = {});

// A model's features: LIBSVM index to dense column. Only indices that occur have a column, since one may be
// 2,000,000,000.
class Features {
public:
    // indices: increasing.
    explicit Features(std::vector<std::int32_t> indices) : indices_(std::move(indices)) {
        constexpr std::int32_t table_max = 1 << 22;
        std::int32_t top = 0;
        for (std::int32_t index : indices_)
            if (index < table_max) top = index + 1;
        table_.assign(static_cast<std::size_t>(top), -1);
        for (std::size_t c = 0; c < indices_.size() && indices_[c] < top; ++c)
            table_[static_cast<std::size_t>(indices_[c])] = static_cast<std::int32_t>(c);
    }
    std::int64_t size() const { return static_cast<std::int64_t>(indices_.size()); }
    const std::vector<std::int32_t>& indices() const { return indices_; }
    // Whether the features are consecutive, so that a column is an index less the first one.
    bool consecutive() const { return !indices_.empty() && indices_.back() - indices_.front() == size() - 1; }
    // The column of an index, or -1.
    std::int32_t column(std::int32_t index) const {
        if (index < static_cast<std::int32_t>(table_.size())) return table_[static_cast<std::size_t>(index)];
        if (indices_.empty() || index > indices_.back()) return -1;
        const auto at = std::lower_bound(indices_.begin(), indices_.end(), index);
        return *at == index ? static_cast<std::int32_t>(at - indices_.begin()) : -1;
    }

private:
    std::vector<std::int32_t> indices_;  // increasing
    std::vector<std::int32_t> table_;
};

// Entries of a row that have columns in a model.
struct Columns {
    std::vector<std::int32_t> column;
    std::vector<double> value;
    // Replaces the entries by those of a row whose index has a column.
    void take(const Features& features, const Rows& rows, std::int64_t row) {
        const std::int64_t n = rows.end(row) - rows.begin(row);
        const std::int32_t* const indices = rows.indices.data() + rows.begin(row);
        const double* const values = rows.values.data() + rows.begin(row);
        if (features.consecutive() && rows.consecutive(row)) {
            const std::int32_t first = std::max(indices[0], features.indices().front());
            const std::int32_t last = std::min(indices[n - 1], features.indices().back());
            const std::int64_t count = std::max<std::int64_t>(0, std::int64_t{last} - first + 1);
            column.resize(static_cast<std::size_t>(count));
            std::iota(column.begin(), column.end(), first - features.indices().front());
            const double* const from = values + (count ? first - indices[0] : 0);
            value.assign(from, from + count);
            return;
        }
        column.resize(static_cast<std::size_t>(n));
        value.resize(static_cast<std::size_t>(n));
        std::size_t found = 0;
        for (std::int64_t e = 0; e < n; ++e) {
            const std::int32_t c = features.column(indices[e]);
            column[found] = c;
            value[found] = values[e];
            found += c >= 0;
        }
        column.resize(found);
        value.resize(found);
    }
    std::int64_t count() const { return static_cast<std::int64_t>(column.size()); }
};

}  // namespace fastsvm

// A block of rows of LIBSVM text, in compressed sparse row form.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace fastsvm {

// An array whose elements are not initialised (a vector's would be, which costs a pass over the memory), in memory of
// its own or somebody else's.
template <class T> class Array {
public:
    Array() = default;
    explicit Array(std::int64_t n)
        : data_(n ? static_cast<T*>(std::malloc(static_cast<std::size_t>(n) * sizeof(T))) : nullptr), size_(n) {
        if (n && !data_) throw std::bad_alloc();
    }
    // n numbers that `owner` keeps where they are: not copied, not freed, and never written to.
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
    void truncate(std::int64_t n) { size_ = n; }

private:
    void swap(Array& other) {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(owner_, other.owner_);
    }
    T* data_ = nullptr;
    std::int64_t size_ = 0;
    std::shared_ptr<const void> owner_;  // of somebody else's memory
};

// What became of the entries of rows that were scaled.
struct ScalingCounts {
    std::int64_t before = 0;          // entries in the text; of dense text, those that are not 0
    std::int64_t unknown = 0;         // of these, left out because the range file does not hold the feature
    std::int32_t unknown_index = -1;  // the least index of those; -1: none

    void leave_out(std::int32_t index, std::int64_t entries = 1) {
        unknown += entries;
        if (unknown_index < 0 || index < unknown_index) unknown_index = index;
    }
    void add(const ScalingCounts& other) {
        before += other.before;
        if (other.unknown) leave_out(other.unknown_index, other.unknown);
    }
};

// Lines of a text that are no rows.
struct Gap {
    std::int64_t row;      // they stand before this one of the rows, numbered from 0
    std::int64_t lines;    // how many
    std::int64_t bad = 0;  // of these, the ones that should be rows; the others are comments
};

// Leading numbers stand before the index:value pairs of a row: 1 for data (the label), nr_class - 1 for the support
// vectors of a model (their coefficients), 0 for unlabelled data.
struct Rows {
    std::int64_t rows = 0;
    std::int64_t first_line = 1;
    int leading_count = 1;
    std::int32_t max_index = 0;
    Array<double> leading;        // (rows, leading_count)
    Array<std::int64_t> indptr;   // (rows + 1)
    Array<std::int32_t> indices;  // (nnz), increasing within a row
    Array<double> values;         // (nnz)
    Array<double> squared_norms;  // (rows)
    ScalingCounts scaling;        // of rows that were read and scaled
    std::vector<Gap> gaps;        // of the text they were read from, in order; no two before the same row

    // Lines behind those that are there already, in front of the next row.
    void add_gap(const Gap& gap);
    // The lines of the text that these rows stand on; of rows that increase.
    std::vector<std::int64_t> line_numbers(const std::vector<std::int64_t>& wanted) const;
    std::int64_t begin(std::int64_t row) const { return indptr[row]; }
    std::int64_t end(std::int64_t row) const { return indptr[row + 1]; }
};

// Those rows, in that order; nothing is known of their line numbers. Throws std::out_of_range.
Rows select_rows(const Rows& from, const std::vector<std::int64_t>& wanted);

// Rows first, ..., last - 1, with their line numbers. Throws std::out_of_range.
Rows slice_rows(const Rows& from, std::int64_t first, std::int64_t last);

// All rows of all parts, in order, as if their texts were parsed as one; of no parts, no rows, with one leading number.
// Throws std::invalid_argument where leading_count is not the same in all.
Rows concatenate_rows(const std::vector<std::shared_ptr<const Rows>>& parts);

// Their LIBSVM text: the leading numbers, then index:value, each the shortest text that reads back. With line numbers,
// one for every row, a comment behind each row tells its own (` # 17`), a row without a label gets 0, which stands for
// an unknown one, and a negative zero keeps its sign.
std::string format_rows(const Rows& rows, const std::vector<std::int64_t>& lines = {});

}  // namespace fastsvm

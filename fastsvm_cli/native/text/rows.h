// A block of rows of LIBSVM text, in compressed sparse row form.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace fastsvm {

// An array whose elements are not initialised (a vector's would be, which costs a pass over the memory).
template <class T>
class Array {
public:
    Array() = default;
    explicit Array(std::int64_t n) : data_(n ? static_cast<T*>(std::malloc(static_cast<std::size_t>(n) * sizeof(T))) : nullptr), size_(n) {
        if (n && !data_) throw std::bad_alloc();
    }
    Array(Array&& other) noexcept { swap(other); }
    Array& operator=(Array&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Array() { std::free(data_); }
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
    }
    T* data_ = nullptr;
    std::int64_t size_ = 0;
};

// `leading` numbers stand before the index:value pairs of a row: 1 for data (the label), nr_class - 1 for the support
// vectors of a model (their coefficients), 0 for unlabelled data.
struct Rows {
    std::int64_t rows = 0;
    std::int64_t first_line = 1;
    int leading = 1;
    std::int32_t max_index = 0;
    Array<double> labels;         // (rows, leading)
    Array<std::int64_t> indptr;   // (rows + 1)
    Array<std::int32_t> indices;  // (nnz), increasing within a row
    Array<double> values;         // (nnz)
    Array<double> squared_norms;  // (rows)

    std::int64_t begin(std::int64_t row) const { return indptr[row]; }
    std::int64_t end(std::int64_t row) const { return indptr[row + 1]; }
};

}  // namespace fastsvm

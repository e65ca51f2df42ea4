// Arrays aligned to cache lines, and matrices in panels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "simd/loops.h"

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

}  // namespace fastsvm

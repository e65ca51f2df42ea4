// Arrays aligned to cache lines.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

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

}  // namespace fastsvm

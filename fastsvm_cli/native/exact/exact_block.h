// Private parts of Exact, for its files: the layout of support vectors, and a thread's scratch memory.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "exact/exact.h"
#include "exact/values/panels.h"
#include "simd/parallel.h"
#include "text/rows.h"

namespace fastsvm {

// Maximum number of rows per step.
constexpr std::int64_t block_rows = 64;

// Maximum length of a thread's scratch array, unless one row needs more: 4 MB; for many threads 25 MB in all.
inline std::int64_t numbers_per_thread() { return std::clamp<std::int64_t>((3 << 20) / get_threads(), 1, 1 << 19); }

// Support vectors and coefficients for level 3, double precision.
struct Exact::Layout {
    std::vector<double> coef;      // (nr_class - 1, padded)
    std::optional<Panels> panels;  // or
    std::optional<ColumnLists> lists;
};

// A thread's scratch memory.
struct Exact::Block {
    explicit Block(const SvmModel& model) : votes(static_cast<int>(model.classes())) {}
    std::vector<Columns> columns;
    PreparedRows rows;
    std::vector<double> kernel_values, scratch, value, own, sums, radii;
    Votes votes;
    Coupling coupling;
    std::vector<RowSize> sizes;  // (rows, pairs), or empty
    const RowSize* sizes_of(std::int64_t row, std::int64_t pairs) const {
        return sizes.empty() ? nullptr : sizes.data() + row * pairs;
    }
    std::vector<std::int64_t> undecided;      // for the next level
    std::vector<std::int64_t> undecided_now;  // for this level
    const std::int64_t* numbers(std::int64_t first, std::int64_t last) {
        undecided_now.resize(static_cast<std::size_t>(last - first));
        std::iota(undecided_now.begin(), undecided_now.end(), first);
        return undecided_now.data();
    }
};

}  // namespace fastsvm

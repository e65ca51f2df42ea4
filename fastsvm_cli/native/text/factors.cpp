#include "text/factors.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "simd/parallel.h"

namespace fastsvm {

namespace {
constexpr std::int64_t part_rows = 1024;
}

Factors::Factors(std::vector<std::int32_t> indices, std::vector<double> factors)
    : features_(std::move(indices)), factors_(std::move(factors)) {
    if (features_.size() != static_cast<std::int64_t>(factors_.size()))
        throw std::invalid_argument("a factor per feature");
}

std::int64_t Factors::multiply(const Rows& rows, Rows* out) const {
    out->rows = rows.rows;
    out->first_line = rows.first_line;
    out->leading_count = rows.leading_count;
    out->leading = Array<double>(rows.rows * rows.leading_count);
    std::copy_n(rows.leading.data(), rows.rows * rows.leading_count, out->leading.data());
    out->indptr = Array<std::int64_t>(rows.rows + 1);
    out->squared_norms = Array<double>(rows.rows);
    // Find where rows begin.
    parallel_for(rows.rows, part_rows, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r) {
            std::int64_t kept = 0;
            for (std::int64_t e = rows.begin(r); e < rows.end(r); ++e) kept += features_.column(rows.indices[e]) >= 0;
            out->indptr[r + 1] = kept;
        }
    });
    out->indptr[0] = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) out->indptr[r + 1] += out->indptr[r];
    out->indices = Array<std::int32_t>(out->indptr[rows.rows]);
    out->values = Array<double>(out->indptr[rows.rows]);
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::int64_t> overflow{none};
    std::atomic<std::int32_t> max_index{0};
    parallel_for(rows.rows, part_rows, [&](std::int64_t first, std::int64_t last) {
        std::int32_t largest = 0;
        for (std::int64_t r = first; r < last; ++r) {
            std::int64_t at = out->indptr[r];
            double squares = 0;
            bool finite = true;
            for (std::int64_t e = rows.begin(r); e < rows.end(r); ++e) {
                const std::int32_t column = features_.column(rows.indices[e]);
                if (column < 0) continue;
                const double value = rows.values[e] * factors_[static_cast<std::size_t>(column)];
                finite = finite && std::isfinite(value);
                squares += value * value;
                largest = std::max(largest, rows.indices[e]);
                out->indices[at] = rows.indices[e];
                out->values[at++] = value;
            }
            out->squared_norms[r] = squares;
            if (!finite) {
                std::int64_t least = overflow.load();
                while (r < least && !overflow.compare_exchange_weak(least, r)) {
                }
            }
        }
        std::int32_t seen = max_index.load();
        while (largest > seen && !max_index.compare_exchange_weak(seen, largest)) {
        }
    });
    out->max_index = max_index.load();
    return overflow.load() == none ? -1 : overflow.load();
}

}  // namespace fastsvm

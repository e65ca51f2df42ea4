#include "exact/values/column_lists.h"

#include <algorithm>

namespace fastsvm {

ColumnLists::ColumnLists(const Kernel& kernel, const Rows& vectors, const Features& features,
                         const std::vector<std::int64_t>& order)
    : kernel_(kernel), norms_(order.size(), 0.0), start_(static_cast<std::size_t>(features.size()) + 1, 0) {
    std::int64_t entries = 0;
    for (std::int64_t i : order)
        for (std::int64_t e = i < 0 ? 0 : vectors.begin(i); i >= 0 && e < vectors.end(i); ++e, ++entries)
            ++start_[features.column(vectors.indices[e]) + 1];
    for (std::int64_t j = 0; j < features.size(); ++j) start_[j + 1] += start_[j];
    vector_.resize(static_cast<std::size_t>(entries));
    value_.resize(static_cast<std::size_t>(entries));
    std::vector<std::int64_t> at(start_.begin(), start_.end() - 1);
    for (std::size_t s = 0; s < order.size(); ++s) {
        const std::int64_t i = order[s];
        if (i < 0) continue;
        norms_[s] = vectors.squared_norms[i];
        for (std::int64_t e = vectors.begin(i); e < vectors.end(i); ++e) {
            const std::int64_t to = at[features.column(vectors.indices[e])]++;
            vector_[to] = static_cast<std::int32_t>(s);
            value_[to] = vectors.values[e];
        }
    }
}

void ColumnLists::kernel_values(const Columns& row, double squared_norm, double* out) const {
    std::fill_n(out, size(), 0.0);
    for (std::int64_t e = 0; e < row.count(); ++e) {
        const double x = row.value[e];
        const std::int64_t stop = start_[row.column[e] + 1];
        for (std::int64_t i = start_[row.column[e]]; i < stop; ++i) out[vector_[i]] += x * value_[i];
    }
    kernel_from_dots(kernel_, size(), squared_norm, norms_.data(), 1, nullptr, out);
}

}  // namespace fastsvm

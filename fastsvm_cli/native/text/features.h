// The features that a model knows, and a row's entries of these features.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

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

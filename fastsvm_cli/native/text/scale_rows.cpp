#include "text/scale_rows.h"

#include <algorithm>

#include "text/error_messages.h"
#include "text/text_slice.h"

namespace fastsvm {

void scale_features(const Scaling& scaling, const Rows& rows, const ScaledTarget& target, ScaledRows& result) {
    result.error.clear();
    result.rows.max_index = 0;
    target.indptr[0] = 0;
    Format format;
    format.scaling = &scaling;
    EntryWriter<true> entries(TextSlice{}, {nullptr, nullptr, target.indices, target.values, nullptr}, format);
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        entries.begin_row();
        for (std::int64_t e = rows.begin(r); e < rows.end(r); ++e)
            if (!entries.put(rows.indices[e], rows.values[e])) {
                result.error = scaling_error(scaling, rows.indices[e], "a value");
                result.error_row = r;
                return;
            }
        entries.end_row();
        target.indptr[r + 1] = entries.count();
        target.squared_norms[r] = entries.squared_norm();
        result.rows.max_index = std::max(result.rows.max_index, entries.last_index());
    }
    result.rows.scaling = entries.counts();
}

ScaledRows scale_rows(const Scaling& scaling, const Rows& rows) {
    ScaledRows result;
    Rows& out = result.rows;
    const std::int64_t most = ScaledTarget::entries(scaling, rows);
    out.rows = rows.rows;
    out.first_line = rows.first_line;
    out.leading_count = rows.leading_count;
    out.gaps = rows.gaps;
    out.leading = Array<double>(rows.rows * rows.leading_count);
    std::copy_n(rows.leading.data(), rows.rows * rows.leading_count, out.leading.data());
    out.indptr = Array<std::int64_t>(rows.rows + 1);
    out.indices = Array<std::int32_t>(most);
    out.values = Array<double>(most);
    out.squared_norms = Array<double>(rows.rows);
    scale_features(scaling, rows, {out.indptr.data(), out.squared_norms.data(), out.indices.data(), out.values.data()},
                   result);
    if (!result.error.empty()) return result;
    out.indices.truncate(out.indptr[rows.rows]);
    out.values.truncate(out.indptr[rows.rows]);
    return result;
}

}  // namespace fastsvm

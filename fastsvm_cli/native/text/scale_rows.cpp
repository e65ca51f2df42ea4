#include "text/scale_rows.h"

#include <algorithm>

#include "text/faults.h"
#include "text/piece.h"

namespace fastsvm {

void scale_features(const Scaling& scaling, const Rows& rows, const ScaledPlace& place, ScaledRows& result) {
    result.fault.clear();
    result.rows.max_index = 0;
    place.indptr[0] = 0;
    Format format;
    format.scaling = &scaling;
    EntryWriter<true> entries(Piece{}, {nullptr, nullptr, place.indices, place.values, nullptr}, format);
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        entries.begin_row();
        for (std::int64_t e = rows.begin(r); e < rows.end(r); ++e)
            if (!entries.put(rows.indices[e], rows.values[e])) {
                result.fault = scaling_fault(scaling, rows.indices[e], "a value");
                result.fault_row = r;
                return;
            }
        entries.end_row();
        place.indptr[r + 1] = entries.count();
        place.squared_norms[r] = entries.squared_norm();
        result.rows.max_index = std::max(result.rows.max_index, entries.last_index());
    }
    result.rows.scaling = entries.counts();
}

ScaledRows scale_rows(const Scaling& scaling, const Rows& rows) {
    ScaledRows result;
    Rows& out = result.rows;
    const std::int64_t most = ScaledPlace::entries(scaling, rows);
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
    if (!result.fault.empty()) return result;
    out.indices.truncate(out.indptr[rows.rows]);
    out.values.truncate(out.indptr[rows.rows]);
    return result;
}

}  // namespace fastsvm

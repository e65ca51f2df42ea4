#include "text/scale_rows.h"

#include <algorithm>

#include "text/faults.h"
#include "text/piece.h"

namespace fastsvm {

ScaledRows scale_rows(const Scaling& scaling, const Rows& rows) {
    ScaledRows result;
    Rows& out = result.rows;
    const std::int64_t most = rows.indices.size() + rows.rows * static_cast<std::int64_t>(scaling.shifted().size());
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
    out.indptr[0] = 0;
    Format format;
    format.scaling = &scaling;
    EntryWriter<true> entries(Piece{}, {nullptr, nullptr, out.indices.data(), out.values.data(), nullptr}, format);
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        entries.begin_row();
        for (std::int64_t e = rows.begin(r); e < rows.end(r); ++e)
            if (!entries.put(rows.indices[e], rows.values[e])) {
                result.fault = scaling_fault(scaling, rows.indices[e], "a value");
                result.fault_row = r;
                return result;
            }
        entries.end_row();
        out.indptr[r + 1] = entries.count();
        out.squared_norms[r] = entries.squared_norm();
        out.max_index = std::max(out.max_index, entries.last_index());
    }
    out.indices.truncate(entries.count());
    out.values.truncate(entries.count());
    out.scaling = entries.counts();
    return result;
}

}  // namespace fastsvm

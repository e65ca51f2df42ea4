// Scales rows from arrays as the parser scales text.
#pragma once
#include <cstdint>
#include <string>

#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

// Scaled rows, or the first error.
struct ScaledRows {
    Rows rows;
    std::string error;  // of the first row that cannot be scaled; or empty
    std::int64_t error_row = -1;
};

// Scales the features of all rows, up to the first error. Leading numbers stay unscaled.
ScaledRows scale_rows(const Scaling& scaling, const Rows& rows);

// The caller's memory: for rows + 1 numbers (indptr), rows (squared_norms), and at least entries() (indices and
// values).
struct ScaledTarget {
    std::int64_t* indptr;
    double* squared_norms;
    std::int32_t* indices;
    double* values;
    static std::int64_t entries(const Scaling& scaling, const Rows& rows) {
        return rows.indices.size() + rows.rows * static_cast<std::int64_t>(scaling.shifted().size());
    }
};

// Scales features into the caller's memory. Sets only max_index and scaling of result.rows.
void scale_features(const Scaling& scaling, const Rows& rows, const ScaledTarget& target, ScaledRows& result);

}  // namespace fastsvm

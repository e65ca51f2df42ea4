// Rows from arrays, scaled as those of text are while they are read.
#pragma once
#include <cstdint>
#include <string>

#include "text/rows.h"
#include "text/scaling.h"

namespace fastsvm {

struct ScaledRows {
    Rows rows;
    std::string fault;  // of the first row that cannot be scaled; empty: none
    std::int64_t fault_row = -1;
};

// Leading numbers stay as they are.
ScaledRows scale_rows(const Scaling& scaling, const Rows& rows);

// Room for scaled rows: (rows + 1) and (rows) numbers, and `entries` more.
struct ScaledPlace {
    std::int64_t* indptr;
    double* squared_norms;
    std::int32_t* indices;
    double* values;
    static std::int64_t entries(const Scaling& scaling, const Rows& rows) {
        return rows.indices.size() + rows.rows * static_cast<std::int64_t>(scaling.shifted().size());
    }
};

// The same of the features alone, to a place that the caller has. result: its rows get their max_index and scaling.
void scale_features(const Scaling& scaling, const Rows& rows, const ScaledPlace& place, ScaledRows& result);

}  // namespace fastsvm

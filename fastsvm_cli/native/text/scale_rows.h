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

}  // namespace fastsvm

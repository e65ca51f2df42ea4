// Multiplies features by factors: the scaling of a folded model, without offsets.
#pragma once
#include <cstdint>
#include <vector>

#include "text/features.h"
#include "text/rows.h"

namespace fastsvm {

class Factors {
public:
    // indices: increasing. factors: one per index. Throws std::invalid_argument.
    Factors(std::vector<std::int32_t> indices, std::vector<double> factors);

    // Drops features without a factor. Uses all threads. Returns the first row that overflows (`out` is then invalid),
    // or -1.
    std::int64_t multiply(const Rows& rows, Rows* out) const;

private:
    Features features_;
    std::vector<double> factors_;
};

}  // namespace fastsvm

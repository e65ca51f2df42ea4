// Multiplies features by factors: scaling without offsets, which a folded model contains.
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

    // Drops features without a factor. Uses all threads. Returns -1, or the first row in which a product overflows;
    // `out` is then invalid.
    std::int64_t multiply(const Rows& rows, Rows* out) const;

private:
    Features features_;
    std::vector<double> factors_;
};

}  // namespace fastsvm

// Rows whose features are multiplied by a factor each: what scaling does to raw rows, but for its offsets, which a
// model takes that it is folded into.
#pragma once
#include <cstdint>
#include <vector>

#include "text/features.h"
#include "text/rows.h"

namespace fastsvm {

class Factors {
public:
    // indices: increasing; factors: as many. Throws std::invalid_argument.
    Factors(std::vector<std::int32_t> indices, std::vector<double> factors);

    // The rows, multiplied; features without a factor are left out. On all threads. Returns -1, or the first row where
    // a product is too large for a double; `out` is of no use then.
    std::int64_t multiply(const Rows& rows, Rows* out) const;

private:
    Features features_;
    std::vector<double> factors_;
};

}  // namespace fastsvm

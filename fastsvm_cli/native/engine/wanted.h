// What a caller needs of a model's decision values.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "answers/coupling.h"

namespace fastsvm {

// Labels, values within a tolerance, or values. Models that stop early or start in lower precision continue until then;
// others may give more.
struct Wanted {
    using Side = std::pair<double, double>;  // value, margin
    std::optional<double> tolerance;         // each value within it of svm-predict's; regression only
    // Values up to rounding, and labels. The side of each (value, margin) must be as certain as that of zero, anywhere
    // within the margin; one decision function only.
    std::optional<std::vector<Side>> sides;
    // With `sides`: every pair's sigmoid. A model that proves labels returns values whose probabilities print as
    // svm-predict's.
    std::optional<Odds> odds;

    bool labels_alone() const { return !tolerance && !sides; }
    // Whether values are wanted up to rounding.
    bool in_full(bool regression) const { return sides.has_value() || (regression && !tolerance); }
};

}  // namespace fastsvm

// What a caller needs of a model's decision values.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "answers/coupling.h"

namespace fastsvm {

// Labels, values within a tolerance, or values. A model that stops early, or evaluates in less than double precision
// first, goes on until it has this; others may give more than is asked for.
struct Wanted {
    using Side = std::pair<double, double>;  // value, margin
    std::optional<double> tolerance;         // values, each within it of svm-predict's; of regression models
    // Values, to rounding, and labels with them. The side of each such value is wanted as surely as that of zero, as
    // though it lay anywhere within its margin; of models with one decision function.
    std::optional<std::vector<Side>> sides;
    // With `sides`: of every pair's sigmoid. A model that proves its labels answers with values whose probabilities
    // print as svm-predict's do, digit for digit.
    std::optional<Odds> odds;

    bool labels_alone() const { return !tolerance && !sides; }
    // Whether the values are wanted to rounding.
    bool in_full(bool regression) const { return sides.has_value() || (regression && !tolerance); }
};

}  // namespace fastsvm

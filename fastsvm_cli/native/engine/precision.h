// How precise a model's decision values must be for an answer.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "answers/coupling.h"

namespace fastsvm {

// Required precision: labels, values within a tolerance, or values. Models that stop early, or start in lower
// precision, continue until they have it; others may give more.
struct Precision {
    using Side = std::pair<double, double>;  // value, margin
    std::optional<double> tolerance;         // largest distance from svm-predict's values; regression only
    // Values up to rounding, and labels. Each (value, margin) is a threshold, as zero is, anywhere within its margin.
    // One decision function only.
    std::optional<std::vector<Side>> sides;
    // With `sides`: sigmoids of all pairs. A model that proves labels returns values whose probabilities print as
    // svm-predict's.
    std::optional<Odds> odds;

    bool labels_alone() const { return !tolerance && !sides; }
    // Whether values are required up to rounding.
    bool in_full(bool regression) const { return sides.has_value() || (regression && !tolerance); }
};

}  // namespace fastsvm

// Keys of compiled models of raw rows, whose scaling is folded into them or into their LIBSVM model.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/body.h"

namespace fastsvm {

inline const std::vector<std::string> folded_keys{"scale", "factors"};
inline const std::string inherited_key = "raw_rows";

struct FoldedKeys {
    std::string digest;                  // fingerprint of the range file
    std::vector<std::int32_t> features;  // increasing; other features are dropped
    std::vector<double> factors;
    bool inherited = false;  // folded into the LIBSVM model: rows are not multiplied
};

// Empty if the keys are missing. Throws ModelFault.
std::optional<FoldedKeys> read_folded_keys(const OwnKeys& own);

}  // namespace fastsvm

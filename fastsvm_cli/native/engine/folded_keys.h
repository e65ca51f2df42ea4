// The keys of a compiled model that takes raw rows because scaling is folded into it, or into the LIBSVM model that it
// was compiled from.
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
    std::string digest;                  // the fingerprint of the range file
    std::vector<std::int32_t> features;  // increasing; the rows' others are left out
    std::vector<double> factors;         // of each
    bool inherited = false;              // by the LIBSVM model: rows are taken as they are
};

// Nothing where the keys are not there. Throws ModelFault.
std::optional<FoldedKeys> read_folded_keys(const OwnKeys& own);

}  // namespace fastsvm

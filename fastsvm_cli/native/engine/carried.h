// Range files in compiled models, which then scale the raw rows that they read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checksum.h"
#include "text/scaling.h"

namespace fastsvm {

struct ScaledModel {
    bool regression = false;
    std::string raw_rows;  // why it takes raw rows already, as the end of a sentence; or empty
    bool serials = false;  // its rows hold kernel values (precomputed kernel)
    std::vector<std::int32_t> used_indices;
};

// Why a model cannot carry a scaling. of_model: the model is at fault, not the file.
struct CarriedFault {
    std::string why;
    bool of_model = false;
};
std::optional<CarriedFault> carried_fault(const Scaling& scaling, const ScaledModel& model, const std::string& name);

// LIBSVM index of column 0 of dense rows: 0 if the model, or the scaling that it carries, knows feature 0, else 1.
// used: increasing. carried: or null.
std::int32_t first_index(const std::vector<std::int32_t>& used, const Scaling* carried);

// Why a model takes raw rows, as the end of a sentence; or "".
std::string raw_rows_because(bool carries, bool folds);

// Throws ModelFault.
Scaling read_carried(const std::vector<RangeText>& ranges);

}  // namespace fastsvm

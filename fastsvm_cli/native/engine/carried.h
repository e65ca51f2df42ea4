// Range files inside compiled models, which then scale raw rows as they read them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checksum.h"
#include "text/scaling.h"

namespace fastsvm {

// Model properties for check_carried.
struct ScaledModel {
    bool regression = false;
    std::string raw_rows;  // why it takes raw rows even so, as the end of a sentence; or empty
    bool serials = false;  // its rows are those of a precomputed kernel
    std::vector<std::int32_t> used_indices;
};

// Why a model cannot carry a scaling; whether the model is at fault, not the file.
struct CarriedFault {
    std::string why;
    bool of_model = false;
};
std::optional<CarriedFault> carried_fault(const Scaling& scaling, const ScaledModel& model, const std::string& name);

// Parses the scaling in a model file. Throws ModelFault.
Scaling read_carried(const std::vector<RangeText>& ranges);

}  // namespace fastsvm

// The range file that a compiled model carries: the model takes raw rows, which are scaled while they are read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checksum.h"
#include "text/scaling.h"

namespace fastsvm {

// What is asked of the model that a scaling is for.
struct ScaledModel {
    bool regression = false;
    std::string raw_rows;  // why it takes raw rows without this scaling, as the end of a sentence; empty: it does not
    bool serials = false;  // rows of a precomputed kernel
    std::vector<std::int32_t> used_indices;
};

// Why the scaling of a file of this name cannot be carried, and whether the model is at fault, not the file.
struct CarriedFault {
    std::string why;
    bool of_model = false;
};
std::optional<CarriedFault> carried_fault(const Scaling& scaling, const ScaledModel& model, const std::string& name);

// The scaling in the texts of a model's file. Throws ModelFault.
Scaling read_carried(const std::vector<RangeText>& ranges);

}  // namespace fastsvm

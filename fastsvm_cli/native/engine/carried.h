// Range files in compiled models, which then scale the raw rows that they read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checksum.h"
#include "engine/model_file.h"
#include "text/scaling.h"

namespace fastsvm {

// Why a model (null: classes of rows) cannot carry a scaling. name: of the range file. of_model: the model is at fault,
// not the file.
struct CarriedFault {
    std::string why;
    bool of_model = false;
};
std::optional<CarriedFault> carried_fault(const Scaling& scaling, const ModelFile* model, const std::string& name);

// Throws ModelFault.
Scaling read_carried(const std::vector<RangeText>& ranges);

}  // namespace fastsvm

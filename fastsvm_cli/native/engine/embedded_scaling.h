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

// Why a model (null: classes of rows) cannot embed a scaling. name: of the range file. of_model: the model is wrong,
// not the file.
struct EmbeddingError {
    std::string why;
    bool of_model = false;
};
std::optional<EmbeddingError> embedding_error(const Scaling& scaling, const ModelFile* model, const std::string& name);

// Throws ModelError.
Scaling read_embedded(const std::vector<RangeText>& ranges);

}  // namespace fastsvm

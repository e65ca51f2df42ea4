// Range files that compiled models embed, to scale the raw rows that they read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checksum.h"
#include "engine/model_file.h"
#include "text/scaling.h"

namespace fastsvm {

// Why a model cannot embed a scaling. of_model: the model does not suit, rather than the range file.
struct EmbeddingError {
    std::string why;
    bool of_model = false;
};
// Returns why not, or none. model: null if it is to be made from training rows with classes. name: of the range file.
std::optional<EmbeddingError> embedding_error(const Scaling& scaling, const ModelFile* model, const std::string& name);

// Reads a compiled model's embedded texts, one or two. Throws ModelError.
Scaling read_embedded(const std::vector<RangeText>& ranges);

}  // namespace fastsvm

// Loads a model of any kind from its text, with what predictions need to know of its file.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/model.h"
#include "engine/model_file.h"
#include "engine/summary.h"
#include "text/scaling.h"

namespace fastsvm {

// A model, and what predictions need to know of its file.
struct LoadedModel {
    std::string kind;  // as on the file's first line, or LIBSVM
    std::shared_ptr<Model> model;
    std::vector<ModelNote> notes;
    std::shared_ptr<const Scaling> embedded;  // features of the embedded range file; or null
    bool serials = false;                     // its rows hold kernel values (precomputed kernel)
    bool folds = false;                       // takes raw rows: scaling is folded in
    bool inherits = false;                    // scaling is folded into its LIBSVM model
    KnownFeatures features;
};

// Loads a model of any kind. Throws ModelError.
LoadedModel load_model(std::string_view text);

// Reads the model for --exact; a reduced set without origin. Throws ModelError, also for compiled models.
std::shared_ptr<const Model> load_exact(std::string_view text);

// Why a model proves nothing about the exact one, or "".
std::string no_certificates(bool certified, bool folds, bool proves, bool compiled);

}  // namespace fastsvm

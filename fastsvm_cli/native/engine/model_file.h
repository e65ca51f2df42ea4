#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/border_file.h"
#include "engine/libsvm_file.h"
#include "engine/maclaurin_file.h"
#include "engine/model.h"
#include "engine/ordered_file.h"
#include "engine/summary.h"
#include "text/scaling.h"

namespace fastsvm {

// Build a model, moving the file's numbers.
std::shared_ptr<Model> make_model(LibsvmFile file);
std::shared_ptr<Model> make_model(MaclaurinFile file);
std::shared_ptr<Model> make_model(BorderFile file);
std::shared_ptr<Model> make_model(DensityFile file);
std::shared_ptr<Model> make_model(TriangleFile file);
std::shared_ptr<Model> make_model(GeometryFile file);

struct LoadedModel {
    std::string kind;  // as on the file's first line, or LIBSVM
    std::shared_ptr<Model> model;
    std::vector<ModelNote> notes;
    std::shared_ptr<const Scaling> carried;  // features of the carried range file; or null
    bool serials = false;                    // its rows hold kernel values (precomputed kernel)
    bool folds = false;                      // takes raw rows: scaling is folded in
    bool inherits = false;                   // scaling is folded into its LIBSVM model
    KnownFeatures features;
};

// Throws ModelFault.
LoadedModel load_model(std::string_view text);

// Reads the model for --exact; a reduced set without origin. Throws ModelFault, also for compiled models.
std::shared_ptr<const Model> load_exact(std::string_view text);

// Why a model takes raw rows, as the end of a sentence; or "".
std::string raw_rows_because(bool carries, bool folds);

// Why a model proves nothing about the exact one, or "".
std::string no_certificates(bool certified, bool folds, bool proves, bool compiled);

}  // namespace fastsvm

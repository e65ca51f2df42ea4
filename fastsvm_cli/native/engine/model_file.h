// Model files: the one way in.
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
#include "text/scaling.h"

namespace fastsvm {

// The models of files that were read; each file's numbers are moved out of it.
std::shared_ptr<Model> make_model(LibsvmFile file);
std::shared_ptr<Model> make_model(MaclaurinFile file);
std::shared_ptr<Model> make_model(BorderFile file);
std::shared_ptr<Model> make_model(DensityFile file);
std::shared_ptr<Model> make_model(TriangleFile file);
std::shared_ptr<Model> make_model(GeometryFile file);

struct LoadedModel {
    std::string kind;  // as its file's first line says, or LIBSVM
    std::shared_ptr<Model> model;
    std::shared_ptr<const Scaling> carried;  // of the range file that it carries, features alone; or null
    bool serials = false;                    // rows are those of a precomputed kernel
    bool folds = false;                      // scaling is folded into it: it takes raw rows
    bool inherits = false;                   // scaling is folded into the LIBSVM model that it was compiled from
};

// The model in a file's content, exact or compiled. Throws ModelFault.
LoadedModel load_model(std::string_view text);

// The LIBSVM model in a file's content, for --exact: a reduced set's without what it came from. Throws ModelFault, also
// for a compiled model.
std::shared_ptr<const Model> load_exact(std::string_view text);

// Why such a model takes raw rows, as the end of a sentence; "" where it takes rows as its training scaled them.
std::string raw_rows_because(bool carries, bool folds);

// Why a model proves nothing of the exact one: it has no certificates, or --scale is folded into it; "" where it can.
// proves, compiled: of the model.
std::string no_certificates(bool certified, bool folds, bool proves, bool compiled);

}  // namespace fastsvm

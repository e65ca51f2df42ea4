#include "engine/load_model.h"

#include <utility>

#include "engine/checksum.h"
#include "engine/kind.h"
#include "engine/libsvm_file.h"
#include "engine/model_error.h"

namespace fastsvm {

LoadedModel load_model(std::string_view text) {
    LoadedModel out;
    const std::unique_ptr<ModelFile> file = read_model(text);
    out.kind = file->kind();
    out.serials = file->serials();
    out.folds = file->folded && !file->folded->inherited;
    out.inherits = file->folded && file->folded->inherited;
    out.notes = std::move(file->notes);
    out.model = file->model();
    if (file->embedded().scaling)
        out.embedded = std::make_shared<const Scaling>(file->embedded().scaling->features_alone());
    const std::int64_t largest = out.serials ? 0 : file->max_index();
    out.features = {file->first_index(), static_cast<std::int32_t>(largest), file->support_vectors()};
    return out;
}

std::shared_ptr<const Model> load_exact(std::string_view text) {
    if (model_kind(text).version)
        throw ModelError("a compiled model found, expected the LIBSVM model it was made from");
    if (!own_line(text).empty()) check_own_line(text);
    return LibsvmFile::read(text)->plain()->model();
}

std::string no_certificates(bool certified, bool folds, bool proves, bool compiled) {
    if (folds)
        return "--scale is folded into it: svm-predict's labels are of rows that svm-scale has rounded, which a model "
               "of"
               " raw rows proves nothing of";
    if (certified) return "";
    if (proves) return std::string(compiled ? "its" : "a LIBSVM model found, whose") + " labels are exact already";
    return "the model has no certificates: fastsvm approx --certify and fastsvm reduce make models that do";
}

}  // namespace fastsvm

// The kinds of model files: recognizes a file's kind, reads a model of any kind, and loads it for predictions.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/line_blocks.h"
#include "engine/model.h"
#include "engine/run.h"
#include "text/scaling.h"

namespace fastsvm {

// A kind of compiled model. made: a file with this header, whose other fields are to be read.
struct CompiledKind {
    const char* name;
    std::unique_ptr<CompiledFile> (*made)(Header header);
};
extern const std::vector<CompiledKind> compiled_kinds;

// The kind of a model file.
struct ModelKind {
    std::string name;  // of a compiled model; empty for a LIBSVM model
    int version = 0;   // of the format; 0 for a LIBSVM model
};

// Recognizes a file's kind. text: at least its first 200 bytes. Throws ModelError for files of no known kind, and names
// other programs' models (from the first 4096 bytes).
ModelKind model_kind(std::string_view text);

// Reads a model file's content; stops if its start is not a model's. take: receives the content in pieces. Throws
// ModelError and FileError.
void read_model_content(const ByteStream& stream, const std::function<void(const char*, std::size_t)>& take);

// Reads a model of any kind. Throws ModelError.
std::unique_ptr<ModelFile> read_model(std::string_view text);

// Whether a file that begins so is meant as a model, readable or not. dense: data may begin with a heading such as
// `label`.
bool looks_like_model(std::string_view start, bool dense);

// A model, and what predictions need to know of its file.
struct LoadedModel {
    std::shared_ptr<ModelFile> file;
    std::string kind;  // as on the file's first line, or LIBSVM
    std::shared_ptr<Model> model;
    std::vector<ModelNote> notes;
    std::shared_ptr<const Scaling> embedded;  // features of the embedded range file; or null
    bool serials = false;                     // its rows hold kernel values (precomputed kernel)
    bool folds = false;                       // takes raw rows: scaling is folded in
    KnownFeatures features;
};

// Loads a model of any kind. Throws ModelError.
LoadedModel load_model(std::string_view text);
LoadedModel loaded_model(std::shared_ptr<ModelFile> file);

// Reads the model for --exact; a reduced set without origin. notes: receives the file's; may be null. Throws
// ModelError, also for compiled models.
std::shared_ptr<const Model> load_exact(std::string_view text, std::vector<ModelNote>* notes = nullptr);

// Why a model proves nothing about the exact one, or "".
std::string no_certificates(bool certified, bool folds, bool proves, bool compiled);

}  // namespace fastsvm

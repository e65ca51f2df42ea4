// The kinds of model files: recognizes a file's kind, and reads a model of any kind.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model_file.h"

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

// Reads a model of any kind. Throws ModelError.
std::unique_ptr<ModelFile> read_model(std::string_view text);

// Whether a file that begins so is meant as a model, readable or not. dense: data may begin with a heading such as
// `label`.
bool looks_like_model(std::string_view start, bool dense);

}  // namespace fastsvm

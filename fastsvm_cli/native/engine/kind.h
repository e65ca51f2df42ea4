#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace fastsvm {

// Kinds that this core reads.
inline const std::vector<std::string> compiled_kinds{"maclaurin", "border", "density", "triangle", "geometry"};

struct ModelKind {
    std::string name;  // of a compiled model; empty for a LIBSVM model
    int version = 0;   // of the format; 0 for a LIBSVM model
};

// text: at least a file's first 200 bytes. Throws ModelFault for files of no known kind, and names other programs'
// models (from the first 4096 bytes).
ModelKind model_kind(std::string_view text);

// Whether a file that begins so is meant as a model, readable or not. dense: data may begin with a heading such as
// `label`.
bool looks_like_model(std::string_view start, bool dense);

}  // namespace fastsvm

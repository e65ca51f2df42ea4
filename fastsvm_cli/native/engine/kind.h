// The kind of a model file, by its first words.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace fastsvm {

// The kinds of compiled models that this core reads.
inline const std::vector<std::string> compiled_kinds{"maclaurin", "border", "density", "triangle", "geometry"};

struct ModelKind {
    std::string name;  // of a compiled model; empty of a LIBSVM model
    int version = 0;   // of a compiled model's format
};

// text: a file's content, or its first 200 bytes at least. kinds: those that are known. Throws ModelFault, also where
// this is another program's model or no model.
ModelKind model_kind(std::string_view text, const std::vector<std::string>& kinds = compiled_kinds);

}  // namespace fastsvm

// LIBSVM models, with or without fastsvm's line after the support vectors, where LIBSVM stops reading.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/body.h"
#include "engine/header.h"
#include "exact/rounding.h"
#include "text/rows.h"

namespace fastsvm {

// Line of a reduced set. origin: without gamma and rho, which are the model's.
struct ReducedLine {
    std::string fingerprint;
    Origin origin;
    std::optional<std::string> raw_rows;  // digest of the scaling folded into the exact model
};

// Line of folded scaling: fingerprints of LIBSVM model and range file.
struct FoldedLine {
    std::string fingerprint, digest;
};

// Something in a model that LIBSVM reads, and its writer may not have meant. line: of the file.
struct ModelNote {
    std::int64_t line;
    std::string text;
};

struct LibsvmFile {
    Header header;
    std::shared_ptr<const Rows> vectors;  // each is `0:serial` for a precomputed kernel
    std::optional<ReducedLine> reduced;
    std::optional<FoldedLine> folded;
    std::vector<ModelNote> notes;
};

// Throws ModelFault.
LibsvmFile read_libsvm(std::string_view text);

// Largest serial of a precomputed kernel's vectors.
std::int64_t largest_serial(const Rows& vectors);

Kernel kernel_of(const Header& header);

}  // namespace fastsvm

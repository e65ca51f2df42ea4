// LIBSVM models: exact, or with a fastsvm line after the support vectors, where LIBSVM stops reading.
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

// A reduced set's line: its exact model, and the error bound. origin: without gamma and rho, which are the model's.
struct ReducedLine {
    std::string fingerprint;
    Origin origin;
    std::optional<std::string> raw_rows;  // digest of the scaling of the exact model's raw rows
};

// Fingerprints of the LIBSVM model and the range file of folded scaling.
struct FoldedLine {
    std::string fingerprint, digest;
};

struct LibsvmFile {
    Header header;
    std::shared_ptr<const Rows> vectors;  // for a precomputed kernel, each is `0:serial`
    std::optional<ReducedLine> reduced;
    std::optional<FoldedLine> folded;
};

// Throws ModelFault.
LibsvmFile read_libsvm(std::string_view text);

// Largest serial of a precomputed kernel's vectors.
std::int64_t largest_serial(const Rows& vectors);

Kernel kernel_of(const Header& header);

}  // namespace fastsvm

// Files of LIBSVM models: exact ones, and those with a line of ours after the last support vector, before which
// LIBSVM's readers stop.
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

// The line of a reduced set: the exact model that it approximates, and how far it can be from it. origin: without gamma
// and rho, which are the model's own.
struct ReducedLine {
    std::string fingerprint;
    Origin origin;
    std::optional<std::string> raw_rows;  // the digest of a scaling that the exact model takes raw rows by
};

// The line of a LIBSVM model that scaling is folded into: fingerprints of the model and of the range file.
struct FoldedLine {
    std::string fingerprint, digest;
};

struct LibsvmFile {
    Header header;
    std::shared_ptr<const Rows> vectors;  // of a precomputed kernel each is `0:serial`
    std::optional<ReducedLine> reduced;
    std::optional<FoldedLine> folded;
};

// Throws ModelFault.
LibsvmFile read_libsvm(std::string_view text);

// The largest serial of a precomputed kernel's vectors.
std::int64_t largest_serial(const Rows& vectors);

// The kernel of a header.
Kernel kernel_of(const Header& header);

}  // namespace fastsvm

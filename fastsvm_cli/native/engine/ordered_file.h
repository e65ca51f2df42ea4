// Files of triangle and geometry models; see FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/header.h"
#include "exact/kernel.h"
#include "text/rows.h"

namespace fastsvm {

// A LIBSVM model, and an order of kernel evaluations.
struct OrderedFile {
    Header header;
    std::string fingerprint;
    Kernel kernel;  // the header's or, if precomputed, that of the vectors
    std::shared_ptr<const Rows> vectors;
    std::shared_ptr<const Rows> all_vectors;  // vectors, then folded rows of the same form
    std::optional<std::string> raw_rows;
};

struct TriangleFile : OrderedFile {
    std::vector<std::int64_t> pivots;  // rows of vectors
};

struct GeometryFile : OrderedFile {
    std::string sequence;
    std::vector<std::int64_t> points;              // (k): rows of all_vectors
    std::vector<double> squared_norm, b_error, b;  // (pairs), (pairs), (k, pairs)
};

// Throw ModelFault.
TriangleFile read_triangle(std::string_view text);
GeometryFile read_geometry(std::string_view text);

inline constexpr const char* without_vectors =
    "a precomputed kernel found: name its vectors with --vectors and its kernel with --kernel";
// Why the triangle inequality gives no bound; "" if the kernel decreases with distance.
std::string triangle_refusal(const Kernel& kernel);

}  // namespace fastsvm

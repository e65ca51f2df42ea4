// What a model answers for a chunk of rows.
#pragma once
#include <cstdint>
#include <vector>

namespace fastsvm {

// Reused from chunk to chunk. A pair is a decision function: (i, j) with i < j over the classes, in LIBSVM's order, or the only one.
struct Decisions {
    explicit Decisions(std::int64_t pairs, bool with_radius = false) : pairs(pairs), with_radius(with_radius) {}
    void resize(std::int64_t n) {
        rows = n;
        value.resize(static_cast<std::size_t>(n * pairs));
        if (with_radius) radius.resize(static_cast<std::size_t>(n * pairs));
        outside = reference_rows = kernel_evaluations = 0;
    }
    std::int64_t pairs;
    bool with_radius;                  // the caller wants radii, from a model that gives them
    std::int64_t rows = 0;
    std::vector<double> value;         // (rows, pairs)
    std::vector<double> radius;        // (rows, pairs): |value - svm-predict's| is at most this; empty without radii
    std::int64_t outside = 0;          // rows outside the bound of Claesen et al., eq. (3.11), for at least one expansion
    std::int64_t reference_rows = 0;   // rows evaluated by the reference sum
    std::int64_t kernel_evaluations = 0;  // by a model that stops early
};

}  // namespace fastsvm

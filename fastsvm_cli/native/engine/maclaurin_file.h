// Files of Maclaurin models; see FORMAT.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/header.h"
#include "models/certificate.h"

namespace fastsvm {

struct MaclaurinFile {
    struct Center {
        std::vector<double> point;  // (d)
        double largest_norm;
    };
    struct Expansion {
        std::int64_t pair, center;
        // rank 0: packed tensor per degree; else c, v (d), lambda (rank), q (rank, d)
        std::vector<double> coefficients;
        std::optional<Certificate> certificate;
        std::int64_t rank = 0;
    };
    Header header;
    int degree = 0;
    std::vector<std::int32_t> features;  // (d)
    bool single = false;                 // coefficients in single precision
    std::string fingerprint;
    std::vector<Center> centers;
    std::vector<Expansion> expansions;
    int highest_norm = 0;    // highest degree with its own norm in certificates; 0 without
    int longest_vector = 0;  // largest number of entries of a support vector
    std::optional<std::string> raw_rows;
};

// text: from open_compiled. Throws ModelFault.
MaclaurinFile read_maclaurin(std::string_view text);

}  // namespace fastsvm

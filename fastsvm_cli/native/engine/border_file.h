// Files of border and density models (Mills); see FORMAT.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/header.h"
#include "text/rows.h"

namespace fastsvm {

struct BorderFile {
    // One pair of classes. rows: (count, 2, d): a sample's point, then its normal.
    struct Samples {
        double level;
        std::int64_t count;
        std::vector<double> rows;
    };
    Header header;
    std::string fingerprint;
    std::vector<std::int32_t> features;  // (d)
    std::vector<Samples> samples;        // (pairs)
    int local = 1;                       // number of nearest samples that are averaged
    bool single = false;
    std::optional<std::string> raw_rows;
};

struct DensityFile {
    Header header;
    std::string fingerprint;
    double weight = 0;
    Rows rows;  // training rows with labels, class by class
};

// Throw ModelFault.
BorderFile read_border(std::string_view text);
DensityFile read_density(std::string_view text);

constexpr std::int64_t most_density_cells = std::int64_t{1} << 28;
std::string too_many_cells(std::int64_t rows, std::int64_t features);

}  // namespace fastsvm

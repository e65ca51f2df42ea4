// Files of cascades; see FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/header.h"
#include "models/cascade.h"
#include "text/rows.h"

namespace fastsvm {

// A LIBSVM model, and stages that are calibrated on rows.
struct CascadeFile {
    Header header;
    std::string fingerprint;
    std::optional<std::string> raw_rows;
    std::shared_ptr<const Rows> vectors;
    // At most `budget` of rows like the calibrated ones get another label, with this confidence: of `tested` rows,
    // `differing` did.
    double budget = 0, confidence = 0;
    std::int64_t tested = 0, differing = 0;
    std::vector<std::int32_t> features;
    std::vector<double> center;  // (features)
    double longest = 0;          // squared norm
    std::vector<std::int64_t> chosen;
    std::vector<CascadeStage> stages;
};

// Throws ModelFault.
CascadeFile read_cascade(std::string_view text);
// The text between the file's first line and its range or checksum.
std::string write_cascade(const CascadeFile& file);

}  // namespace fastsvm

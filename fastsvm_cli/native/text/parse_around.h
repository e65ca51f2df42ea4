// Parses text with malformed lines.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "text/parse.h"

namespace fastsvm {

struct AroundResult {
    Rows rows;  // the valid ones; first_line is that of the text
    // The first faults: line number, "what was found, what was expected".
    std::vector<std::pair<std::int64_t, std::string>> faults;
    std::int64_t fields = -1;  // dense: values in every row, as in the first valid one
};

// As parse, but skips malformed lines; keeps the first `keep` of their faults.
AroundResult parse_around(const char* text, std::size_t size, std::int64_t first_line, Format format, std::size_t keep);

}  // namespace fastsvm

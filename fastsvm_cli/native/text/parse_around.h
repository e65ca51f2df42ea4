// Parses text around malformed lines, which are skipped and counted.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "text/parse.h"

namespace fastsvm {

struct AroundResult {
    Rows rows;  // of valid lines; first_line: of the text
    // The first errors, with line numbers.
    std::vector<std::pair<std::int64_t, std::string>> errors;
    std::int64_t fields = -1;  // dense: values per row, as in the first valid one
};

// As parse(), but skips malformed lines, and returns only the first `keep` errors.
AroundResult parse_around(const char* text, std::size_t size, std::int64_t first_line, Format format, std::size_t keep);

}  // namespace fastsvm

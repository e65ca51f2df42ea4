// Text of which some lines are no rows: the rows, and where the others stood.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "text/parse.h"

namespace fastsvm {

struct AroundResult {
    Rows rows;  // those that could be read; first_line is that of the text
    // Of the first ones: line number, "what was found, what was expected".
    std::vector<std::pair<std::int64_t, std::string>> faults;
    std::int64_t fields = -1;  // dense: values in every row, as the first row that could be read has
};

// As parse, but lines that are no rows are left out instead of ending it; the first `keep` of their faults are kept.
AroundResult parse_around(const char* text, std::size_t size, std::int64_t first_line, Format format, std::size_t keep);

}  // namespace fastsvm

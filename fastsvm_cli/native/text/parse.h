// Parses LIBSVM text, or delimited values, into Rows.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

class Scaling;

// The form of a text's lines, and options of reading them.
struct Format {
    int leading_count = 1;         // numbers before the index:value pairs
    bool dense = false;            // delimited values instead of index:value
    char delimiter = ',';          // a blank: any run of blanks
    std::int64_t fields = -1;      // dense: values per row; -1: as in the first
    std::int32_t first_index = 1;  // dense: feature of a row's first value
    const char* leading_name = "a label";
    // Skips comment lines, and `qid:N` after the label, as SVMlight; refuses several labels by name.
    bool svmlight = false;
    bool any_order = false;            // read rows whose indices do not increase, as LIBSVM's model reader does
    bool plain_comments = false;       // refuse comments with ':', which LIBSVM's model reader takes for entries
    const Scaling* scaling = nullptr;  // applied to every row; scaled rows hold no 0, like dense ones
    std::int64_t max_rows = -1;        // stop after this many rows; -1: no limit
};

struct ParseResult {
    Rows rows;          // before the first error
    std::string error;  // empty: none
    std::int64_t error_line = 0;
    std::int64_t fields = -1;  // dense: values per row
    std::size_t consumed = 0;  // bytes read, up to an error or max_rows
};

// Parses up to the first error. text: whole lines, ends in '\n'. first_line: number of the text's first line. Uses all
// threads; their number does not affect the result.
ParseResult parse(std::string_view text, std::int64_t first_line, const Format& format);

struct AroundResult {
    Rows rows;  // of valid lines; first_line: of the text
    // The first errors, with line numbers.
    std::vector<std::pair<std::int64_t, std::string>> errors;
    std::int64_t fields = -1;  // dense: values per row, as in the first valid one
};

// As parse(), but skips malformed lines, and returns only the first `keep` errors.
AroundResult parse_around(std::string_view text, std::int64_t first_line, Format format, std::size_t keep);

std::int64_t count_lines(std::string_view text);
// The number of the line at an offset.
std::int64_t line_at(std::string_view text, std::size_t offset);

}  // namespace fastsvm

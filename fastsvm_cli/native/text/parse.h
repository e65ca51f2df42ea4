// LIBSVM or dense delimited text to Rows.
#pragma once
#include <cstddef>
#include <string>

#include "text/rows.h"

namespace fastsvm {

class Scaling;

struct Format {
    int leading_count = 1;     // numbers before the index:value pairs
    bool dense = false;        // delimited values instead of index:value
    char delimiter = ',';      // a blank matches any run of blanks
    std::int64_t fields = -1;  // dense: required values per row; -1: as in the first
    const char* leading_name = "a label";
    // Accepts SVMlight's text: skips comment lines and `qid:N` after the label; refuses several labels by name.
    bool svmlight = false;
    bool plain_comments = false;       // refuse a comment with ':', which LIBSVM's model reader takes for an entry
    const Scaling* scaling = nullptr;  // applied to every row, which then holds no 0, as dense rows never do
    std::int64_t max_rows = -1;        // stop after these (a model's support vectors); -1: none
};

struct ParseResult {
    Rows rows;          // before the first fault
    std::string fault;  // "what was found, what was expected"; empty: none
    std::int64_t fault_line = 0;
    std::int64_t fields = -1;  // dense: values in every row
    std::size_t consumed = 0;  // bytes read, if max_rows stopped it
};

// text[0..size) holds whole lines and ends in '\n'. Uses all threads; their number does not affect the result.
ParseResult parse(const char* text, std::size_t size, std::int64_t first_line, const Format& format);

// Counts LFs.
std::int64_t count_lines(const char* text, std::size_t size);

}  // namespace fastsvm

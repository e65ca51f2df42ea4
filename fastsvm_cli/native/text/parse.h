// LIBSVM text, or dense delimited text, to Rows.
#pragma once
#include <cstddef>
#include <string>

#include "text/rows.h"

namespace fastsvm {

class Scaling;

struct Format {
    int leading_count = 1;     // numbers before the index:value pairs
    bool dense = false;        // delimited values instead of index:value
    char delimiter = ',';      // a blank means any run of blanks
    std::int64_t fields = -1;  // dense: values a row must have; -1: the first row decides
    const char* leading_name = "a label";
    // Data as SVMlight's writers write it, too: a line that is a comment is skipped, as is a `qid:N` behind the label;
    // and a line of several labels is refused by name.
    bool svmlight = false;
    bool plain_comments = false;  // a comment must not hold a ':', which LIBSVM's reader of models takes for an entry
    const Scaling* scaling =
        nullptr;                 // applied to every row; its sparse rows hold no 0 then, as its dense ones never do
    std::int64_t max_rows = -1;  // stop after so many rows (a model's support vectors); -1: read all
};

struct ParseResult {
    Rows rows;          // the rows before the first fault
    std::string fault;  // "what was found, what was expected"; empty: none
    std::int64_t fault_line = 0;
    std::int64_t fields = -1;  // dense: values in every row
    std::size_t consumed = 0;  // bytes read, when max_rows stopped it
};

// text[0..size) holds whole lines; its last byte is '\n'. Lines are parsed on all threads; the result does not depend
// on how many.
ParseResult parse(const char* text, std::size_t size, std::int64_t first_line, const Format& format);

// The LFs in it.
std::int64_t count_lines(const char* text, std::size_t size);

}  // namespace fastsvm

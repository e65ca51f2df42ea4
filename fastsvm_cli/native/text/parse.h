// Rows from LIBSVM text, from delimited values, and from arrays in memory, with the same checks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
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

// Rows from arrays, as the parser reads and checks them from text.

enum class NumberType { float64, float32, int64, int32 };

// A matrix (rows, columns); an array has one column. Strides are in bytes.
struct MatrixView {
    const char* data = nullptr;
    NumberType type = NumberType::float64;
    std::int64_t rows = 0, columns = 1, row_stride = 0, column_stride = 0;
    // Keeps immutable numbers alive. Null: they may change, so Rows, which are checked once, copy them.
    std::shared_ptr<const void> owner;
};

// A row that the parser would refuse.
struct ArrayRowError : std::invalid_argument {
    ArrayRowError(std::int64_t row, const std::string& why)
        : std::invalid_argument("row " + std::to_string(row) + ": " + why), row(row), why(why) {}
    std::int64_t row;
    std::string why;
};

// These functions throw std::invalid_argument, and ArrayRowError for the first such row. Messages number rows and
// entries from 0.

// Compressed sparse rows with LIBSVM's indices, whose first feature is 1. leading: (rows, leading_count); indptr: (rows
// + 1), and indices: (nnz), whole numbers; values: (nnz), with explicit zeros. Views with an owner and of Rows' own
// type are not copied.
Rows rows_from_csr(const MatrixView& leading, const MatrixView& indptr, const MatrixView& indices,
                   const MatrixView& values);

// Compressed sparse rows as in SciPy: column j, from 0 to columns - 1, is feature j + first_index. Entries of a row are
// in any order; those of one column are added in order, in double precision. indptr: (rows + 1), may begin above 0 if
// first_row does; indices, values: (nnz), from entry indptr[0] on. first_row: number of row 0 in messages. Never reads
// outside the views, whatever they hold.
Rows rows_from_columns(const MatrixView& indptr, const MatrixView& indices, const MatrixView& values,
                       std::int64_t columns, std::int64_t first_row, std::int32_t first_index);

// A dense matrix (rows, d); zeros are not stored. columns: (d) LIBSVM indices, increasing; null: column j is feature
// j + first_index. A view of doubles with an owner, without zeros and gaps, is not copied. Reuses the memory of `out`.
void rows_from_dense(const MatrixView& leading, const MatrixView& matrix, const MatrixView* columns,
                     std::int32_t first_index, Rows& out);

}  // namespace fastsvm

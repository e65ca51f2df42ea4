// Rows from arrays in memory: the rows that parse would make of the same numbers as text, and the same demands on them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "text/rows.h"

namespace fastsvm {

enum class NumberType { float64, float32, int64, int32 };

// A matrix (rows, columns) somewhere in memory, by strides in bytes; an array is a matrix of one column.
struct MatrixView {
    const char* data = nullptr;
    NumberType type = NumberType::float64;
    std::int64_t rows = 0, columns = 1, row_stride = 0, column_stride = 0;
    // Keeps numbers in place that nobody can change any more. Null: somebody can, so that Rows, which are checked once
    // and relied on, must have a copy of them.
    std::shared_ptr<const void> owner;
};

// All that return Rows throw std::invalid_argument("what was found, what was expected"); rows and entries are numbered
// from 0.

// What is wrong with an entry of LIBSVM's index; empty: nothing. last: the index before it in its row, -1 before the
// first.
std::string entry_fault(std::int64_t last, std::int32_t index, double value);

// Compressed sparse rows with LIBSVM's indices, whose first feature is 1 (SciPy's first column is 0). leading: (rows,
// leading_count); indptr: (rows + 1) and indices: (nnz), whole numbers; values: (nnz), zeros among them stay. A view
// with an owner and of Rows' own type is not copied.
Rows rows_from_csr(const MatrixView& leading, const MatrixView& indptr, const MatrixView& indices,
                   const MatrixView& values);

// Compressed sparse rows as SciPy has them, without leading numbers: column j, from 0 to columns - 1, is feature j + 1;
// the entries of a row are in any order, and those of one column are added up, in theirs and in double precision.
// indptr: (rows + 1), of which the first need not be 0; indices, values: (nnz), of which the first is entry indptr[0].
// first_row: the number of row 0 in messages. Nothing is read that the views do not hold, whatever numbers are in them.
Rows rows_from_columns(const MatrixView& indptr, const MatrixView& indices, const MatrixView& values,
                       std::int64_t columns, std::int64_t first_row);

// A dense matrix (rows, d), whose zeros are not stored. columns: (d) increasing whole numbers, the LIBSVM index of each
// of its columns; null: 1, ..., d.
Rows rows_from_dense(const MatrixView& leading, const MatrixView& matrix, const MatrixView* columns);

}  // namespace fastsvm

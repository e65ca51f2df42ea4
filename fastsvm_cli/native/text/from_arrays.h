// Rows from arrays in memory, as the parser reads and checks them from text.
#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "text/rows.h"

namespace fastsvm {

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

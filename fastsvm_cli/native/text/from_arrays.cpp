#include "text/parse.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "simd/parallel.h"
#include "text/numbers.h"

namespace fastsvm {

namespace {

constexpr std::int64_t grain = 1024;  // minimum rows per thread
constexpr int abreast = 8;            // dense rows to measure at a time, at most

[[noreturn]] void fail(const std::string& why) { throw std::invalid_argument(why); }

void expect_count(const char* name, std::int64_t found, const char* of, std::int64_t expected, const char* why) {
    if (found != expected)
        fail(std::string(name) + ": " + std::to_string(found) + " " + of + " found, expected " +
             std::to_string(expected) + ": " + why);
}

template <class Visit> void with_type(NumberType type, Visit visit) {
    switch (type) {
        case NumberType::float64: return visit(double{});
        case NumberType::float32: return visit(float{});
        case NumberType::int64: return visit(std::int64_t{});
        case NumberType::int32: return visit(std::int32_t{});
    }
}

// Memory may be unaligned.
template <class T> T at(const MatrixView& view, std::int64_t row, std::int64_t column = 0) {
    T value;
    std::memcpy(&value, view.data + row * view.row_stride + column * view.column_stride, sizeof value);
    return value;
}

template <class T>
constexpr NumberType type_of = std::is_same_v<T, double>         ? NumberType::float64
                               : std::is_same_v<T, std::int64_t> ? NumberType::int64
                                                                 : NumberType::int32;

bool is_contiguous(const MatrixView& view, std::int64_t size) {
    return (view.columns <= 1 || view.column_stride == size) &&
           (view.rows <= 1 || view.row_stride == view.columns * size);
}

void expect_whole(const MatrixView& view, const char* name) {
    if (view.type != NumberType::int64 && view.type != NumberType::int32)
        fail(std::string(name) + ": real numbers found, expected whole ones (int32 or int64)");
}

template <class T> Array<T> array_of(const MatrixView& view, const char* name) {
    const std::int64_t n = view.rows * view.columns;
    const bool contiguous = is_contiguous(view, sizeof(T));
    const bool aligned = reinterpret_cast<std::uintptr_t>(view.data) % alignof(T) == 0;
    if (n && view.owner && view.type == type_of<T> && contiguous && aligned)
        return Array<T>(reinterpret_cast<const T*>(view.data), n, view.owner);
    if (n && std::is_integral_v<T>) expect_whole(view, name);
    Array<T> out(n);
    if (n && view.type == type_of<T> && contiguous) {
        std::memcpy(out.data(), view.data, static_cast<std::size_t>(n) * sizeof(T));
        return out;
    }
    with_type(view.type, [&](auto number) {
        using From = decltype(number);
        for (std::int64_t r = 0; r < view.rows; ++r)
            for (std::int64_t c = 0; c < view.columns; ++c) {
                const From value = at<From>(view, r, c);
                if constexpr (std::is_same_v<T, std::int32_t> && std::is_same_v<From, std::int64_t>)
                    if (value != static_cast<T>(value))
                        fail(std::string(name) + ": " + std::to_string(value) +
                             " found, expected indices from 0 to 2147483647");
                out[r * view.columns + c] = static_cast<T>(value);
            }
    });
    return out;
}

Array<double> leading_of(const MatrixView& view) {
    if (view.columns > std::numeric_limits<std::int32_t>::max()) fail("leading: more than 2147483647 columns found");
    Array<double> leading = array_of<double>(view, "leading");
    for (std::int64_t i = 0; i < leading.size(); ++i)
        if (!std::isfinite(leading[i]))
            fail("row " + std::to_string(i / view.columns) + ": " + not_finite_error(leading[i], "a leading number"));
    return leading;
}

// Checks rows on all threads, then fails with error(row) of the first invalid one. first_row: number of row 0 in the
// message.
template <class Check, class Error>
void check_rows(std::int64_t rows, Check check, Error error, std::int64_t first_row = 0) {
    std::atomic<std::int64_t> first_bad{rows};
    parallel_for(rows, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r)
            if (!check(r)) {
                std::int64_t known = first_bad;
                while (r < known && !first_bad.compare_exchange_weak(known, r)) {
                }
                return;
            }
    });
    if (first_bad < rows) throw ArrayRowError(first_row + first_bad, error(first_bad.load()));
}

// Reads one number. array_of would copy or refuse them all.
std::int64_t whole_at(const MatrixView& view, std::int64_t row) {
    return view.type == NumberType::int64 ? at<std::int64_t>(view, row) : at<std::int32_t>(view, row);
}

// Sets the squared norms of `count` rows, each summed in the parser's order, and their numbers of entries other than 0.
// A norm is not finite if a number is not, or if squares overflow.
void measure(const MatrixView& matrix, std::int64_t first, int count, double* squared_norms, std::int64_t* entries) {
    with_type(matrix.type, [&](auto number) {
        using From = decltype(number);
        typedef double Two __attribute__((vector_size(16)));
        typedef std::int64_t Counts __attribute__((vector_size(16)));
        // A sum waits for its previous addition: as many side by side as hide that.
        Two sums[abreast / 2] = {};
        Counts zeros[abreast / 2] = {};
        const char* row[abreast];
        for (int k = 0; k < abreast; ++k) row[k] = matrix.data + (first + std::min(k, count - 1)) * matrix.row_stride;
        const auto sum_up = [&](std::int64_t stride, int pairs) {
            for (std::int64_t c = 0; c < matrix.columns; ++c) {
#pragma GCC unroll 4
                for (int k = 0; k < pairs; ++k) {
                    From value[2];
                    std::memcpy(&value[0], row[2 * k] + c * stride, sizeof(From));
                    std::memcpy(&value[1], row[2 * k + 1] + c * stride, sizeof(From));
                    const Two x = {static_cast<double>(value[0]), static_cast<double>(value[1])};
                    sums[k] += x * x;  // 0 adds nothing
                    zeros[k] -= (Counts)(x == 0);
                }
            }
        };
        if (count <= 2)
            sum_up(matrix.column_stride, 1);
        else if (matrix.column_stride == sizeof(From))
            sum_up(sizeof(From), abreast / 2);
        else
            sum_up(matrix.column_stride, abreast / 2);
        for (int k = 0; k < count; ++k) {
            squared_norms[k] = sums[k / 2][k % 2];
            entries[k] = matrix.columns - zeros[k / 2][k % 2];
        }
    });
}

// Message of a row's first number that is not finite, or "".
std::string dense_error(const MatrixView& matrix, std::int64_t row) {
    std::string why;
    with_type(matrix.type, [&](auto number) {
        for (std::int64_t c = 0; c < matrix.columns && why.empty(); ++c) {
            const double value = static_cast<double>(at<decltype(number)>(matrix, row, c));
            if (!std::isfinite(value)) why = not_finite_error(value);
        }
    });
    return why;
}

// Writes the entries that `measure` counted. index(column): of LIBSVM.
template <class Index>
void write_entries(const MatrixView& matrix, std::int64_t row, std::int64_t entries, Index index, std::int32_t* indices,
                   double* values) {
    const std::int64_t d = matrix.columns;
    with_type(matrix.type, [&](auto number) {
        using From = decltype(number);
        const char* const from = matrix.data + row * matrix.row_stride;
        const auto copy = [&](std::int64_t stride) {
            const auto value_at = [&](std::int64_t c) {
                From value;
                std::memcpy(&value, from + c * stride, sizeof value);
                return static_cast<double>(value);
            };
            if (entries == d) {
                for (std::int64_t c = 0; c < d; ++c) values[c] = value_at(c);
                for (std::int64_t c = 0; c < d; ++c) indices[c] = index(c);
                return;
            }
            std::int64_t e = 0;
            for (std::int64_t c = 0; c < d && e < entries; ++c) {  // without a branch per number
                indices[e] = index(c);
                values[e] = value_at(c);
                e += values[e] != 0;
            }
            // Numbers that another thread made zeros meanwhile.
            for (; e < entries; ++e) indices[e] = index(d - 1), values[e] = 0;
        };
        if (matrix.column_stride == sizeof(From))
            copy(sizeof(From));
        else
            copy(matrix.column_stride);
    });
}

void sort_and_add_up(Rows& rows) {
    Array<std::int32_t> indices(rows.indices.size());
    Array<double> values(rows.indices.size());
    std::vector<std::pair<std::int32_t, double>> row;
    std::int64_t end = 0, begin = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        row.clear();
        for (std::int64_t e = begin; e < rows.end(r); ++e) row.emplace_back(rows.indices[e], rows.values[e]);
        std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        begin = rows.end(r);
        const std::int64_t start = end;
        for (const auto& [index, value] : row)
            if (end > start && indices[end - 1] == index) {
                values[end - 1] += value;
            } else {
                indices[end] = index;
                values[end++] = value;
            }
        rows.indptr[r + 1] = end;
    }
    indices.resize(end);
    values.resize(end);
    rows.indices = std::move(indices);
    rows.values = std::move(values);
}

}  // namespace

Rows rows_from_csr(const MatrixView& leading, const MatrixView& indptr, const MatrixView& indices,
                   const MatrixView& values) {
    Rows out;
    out.rows = leading.rows;
    expect_count("indptr", indptr.rows, "numbers", out.rows + 1, "one more than rows");
    expect_count("values", values.rows, "numbers", indices.rows, "as many as indices");
    out.leading = leading_of(leading);
    out.leading_count = static_cast<int>(leading.columns);
    out.indptr = array_of<std::int64_t>(indptr, "indptr");
    out.indices = array_of<std::int32_t>(indices, "indices");
    out.values = array_of<double>(values, "values");
    if (out.indptr[0] != 0) fail("indptr: " + std::to_string(out.indptr[0]) + " found first, expected 0");
    for (std::int64_t r = 0; r < out.rows; ++r)
        if (out.end(r) < out.begin(r))
            fail("indptr: " + std::to_string(out.end(r)) + " found after " + std::to_string(out.begin(r)) +
                 ", expected numbers that do not fall");
    expect_count("indptr", out.indptr[out.rows], "as the last one", out.indices.size(), "as many as indices");

    out.squared_norms = Array<double>(out.rows);
    check_rows(out.rows, [&](std::int64_t r) { return out.complete(r); }, [&](std::int64_t r) { return out.error(r); });
    out.find_max_index();
    return out;
}

Rows rows_from_columns(const MatrixView& indptr, const MatrixView& indices, const MatrixView& values,
                       std::int64_t columns, std::int64_t first_row, std::int32_t first_index) {
    Rows out;
    if (!indptr.rows) fail("indptr: no numbers found, expected one more than rows");
    out.rows = indptr.rows - 1;
    out.leading_count = 0;
    expect_whole(indptr, "indptr");
    expect_whole(indices, "indices");
    expect_count("values", values.rows, "numbers", indices.rows, "as many as indices");
    if (columns > std::numeric_limits<std::int32_t>::max()) fail("more than 2147483647 columns found");
    const std::int64_t base = whole_at(indptr, 0), held = indices.rows;
    // Check all bounds before reading entries.
    out.indptr = Array<std::int64_t>(out.rows + 1);
    out.indptr[0] = 0;
    for (std::int64_t r = 0; r < out.rows; ++r) {
        const std::int64_t begin = whole_at(indptr, r), end = whole_at(indptr, r + 1);
        const bool starts = first_row + r > 0 || begin == 0;
        if (!starts || begin < 0 || end < begin || end - base > held)
            fail("row " + std::to_string(first_row + r) + ": indptr " + std::to_string(begin) + " and " +
                 std::to_string(end) + " found, expected numbers that " +
                 (starts ? "do not fall, and lie within the indices" : "begin at 0"));
        out.indptr[r + 1] = end - base;
    }
    const std::int64_t entries = out.indptr[out.rows];
    MatrixView used = values;
    used.rows = entries;
    out.values = array_of<double>(used, "values");
    out.indices = Array<std::int32_t>(entries);
    out.squared_norms = Array<double>(out.rows);
    std::atomic<bool> in_order{true};
    const auto is_column = [&](std::int64_t column) { return 0 <= column && column < columns; };
    check_rows(
        out.rows,
        [&](std::int64_t r) {
            std::int64_t last = -1;
            double squared_norm = 0;
            bool sound = true, increasing = true;
            for (std::int64_t e = out.indptr[r]; e < out.indptr[r + 1]; ++e) {
                const std::int64_t column = whole_at(indices, e);
                const double value = out.values[e];
                sound = sound && is_column(column) && std::isfinite(value);
                increasing = increasing && column > last;
                last = column;
                out.indices[e] = static_cast<std::int32_t>(column + first_index);
                squared_norm += value * value;
            }
            out.squared_norms[r] = squared_norm;
            if (!increasing) in_order = false;
            return sound;
        },
        [&](std::int64_t r) {
            std::int64_t e = out.indptr[r];
            while (is_column(whole_at(indices, e)) && std::isfinite(out.values[e])) ++e;
            if (std::isfinite(out.values[e]))
                return "column " + std::to_string(whole_at(indices, e)) + " found, expected columns from 0 to " +
                       std::to_string(columns - 1);
            return not_finite_error(out.values[e]);
        },
        first_row);
    if (!in_order) {
        sort_and_add_up(out);
        check_rows(
            out.rows, [&](std::int64_t r) { return out.complete(r); },
            [&](std::int64_t) { return std::string("entries of one column found whose sum overflows"); }, first_row);
    }
    out.find_max_index();
    return out;
}

void rows_from_dense(const MatrixView& leading, const MatrixView& matrix, const MatrixView* columns,
                     std::int32_t first_index, Rows& out) {
    const std::int64_t d = matrix.columns;
    out.reset(leading.rows, 0, 0);
    expect_count("matrix", matrix.rows, "rows", out.rows, "as many as leading has");
    if (columns) expect_count("columns", columns->rows, "numbers", d, "as many as the matrix has columns");
    if (d > std::numeric_limits<std::int32_t>::max()) fail("matrix: more than 2147483647 columns found");
    out.leading = leading_of(leading);
    out.leading_count = static_cast<int>(leading.columns);
    const Array<std::int32_t> given = columns ? array_of<std::int32_t>(*columns, "columns") : Array<std::int32_t>();
    const auto index = [known = columns ? given.data() : nullptr, first_index](std::int64_t c) {
        return known ? known[c] : static_cast<std::int32_t>(c + first_index);
    };
    const auto check_index = [&](std::int64_t c) {
        const std::int32_t found = index(c);
        if (found < 0) fail("columns: " + index_error(found));
        if (c && found <= index(c - 1)) fail("columns: " + index_error(found, index(c - 1)));
    };
    for (std::int64_t c = 0; columns && c < d; ++c) check_index(c);
    if (!columns && d) check_index(0), check_index(d - 1);
    out.max_index = d ? index(d - 1) : 0;  // as in dense text, even if no row has it

    const std::int64_t groups = (out.rows + abreast - 1) / abreast;
    parallel_for(groups, grain / abreast, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first * abreast; r < std::min(out.rows, last * abreast); r += abreast)
            measure(matrix, r, static_cast<int>(std::min<std::int64_t>(abreast, out.rows - r)),
                    out.squared_norms.data() + r, out.indptr.data() + 1 + r);
    });
    check_rows(
        out.rows, [&](std::int64_t r) { return std::isfinite(out.squared_norms[r]) || dense_error(matrix, r).empty(); },
        [&](std::int64_t r) { return dense_error(matrix, r); });
    for (std::int64_t r = 0; r < out.rows; ++r) out.indptr[r + 1] += out.indptr[r];
    const std::int64_t entries = out.indptr[out.rows];
    out.indices.resize(entries);
    const bool whole = entries == out.rows * d && matrix.type == NumberType::float64;
    if (whole && matrix.owner && is_contiguous(matrix, sizeof(double))) {  // not copied, if it is aligned
        out.values = array_of<double>(matrix, "matrix");
        for (std::int64_t r = 0; r < out.rows; ++r)
            for (std::int64_t c = 0; c < d; ++c) out.indices[r * d + c] = index(c);
        return;
    }
    out.values.resize(entries);
    parallel_for(out.rows, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r)
            write_entries(matrix, r, out.end(r) - out.begin(r), index, out.indices.data() + out.begin(r),
                          out.values.data() + out.begin(r));
    });
}

}  // namespace fastsvm

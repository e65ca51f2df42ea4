// Bindings of text/: chunks of rows.
#include "bind/bind.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "text/from_arrays.h"
#include "text/rows.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

class Buffer {
public:
    Buffer(nb::handle object, const char* name, int least, int most) : name_(name), least_(least), most_(most) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_FORMAT | PyBUF_STRIDES) != 0) throw nb::python_error();
    }
    ~Buffer() {
        const nb::gil_scoped_acquire acquire;
        PyBuffer_Release(&view_);
    }
    Buffer(const Buffer&) = delete;

    // Keeps `self`, and so the numbers, alive.
    MatrixView view(const std::shared_ptr<const Buffer>& self) const {
        if (view_.ndim < least_ || view_.ndim > most_) {
            const std::string expected = least_ < most_ ? "1 or 2" : std::to_string(most_);
            fail(std::to_string(view_.ndim) + " dimensions found, expected " + expected);
        }
        MatrixView out;
        out.data = static_cast<const char*>(view_.buf);
        out.type = type();
        out.rows = view_.shape[0];
        out.row_stride = view_.strides[0];
        if (view_.ndim == 2) {
            out.columns = view_.shape[1];
            out.column_stride = view_.strides[1];
        }
        if (view_.readonly) out.owner = self;
        return out;
    }

private:
    NumberType type() const {
        const char* format = view_.format ? view_.format : "B";
        if (*format == '@' || *format == '=') ++format;  // native byte order
        const std::string letter = format;
        if (letter == "d" && view_.itemsize == 8) return NumberType::float64;
        if (letter == "f" && view_.itemsize == 4) return NumberType::float32;
        if (letter == "i" || letter == "l" || letter == "q") {
            if (view_.itemsize == 8) return NumberType::int64;
            if (view_.itemsize == 4) return NumberType::int32;
        }
        fail("numbers of another type found, expected float64, float32, int64 or int32");
    }

    [[noreturn]] void fail(const std::string& why) const { throw nb::value_error((name_ + ": " + why).c_str()); }

    Py_buffer view_;
    std::string name_;
    int least_, most_;  // dimensions
};

struct Array {
    std::shared_ptr<const Buffer> buffer;
    MatrixView view;
};

Array array(nb::handle object, const char* name, int least = 1, int most = 1) {
    auto buffer = std::make_shared<const Buffer>(object, name, least, most);
    MatrixView view = buffer->view(buffer);
    return {std::move(buffer), std::move(view)};
}

Chunk chunk_from_csr(AnyNumbers leading, AnyNumbers indptr, AnyNumbers indices, AnyNumbers values) {
    const Array before = array(leading, "leading", 1, 2), starts = array(indptr, "indptr");
    const Array columns = array(indices, "indices"), entries = array(values, "values");
    const nb::gil_scoped_release release;
    return shared(rows_from_csr(before.view, starts.view, columns.view, entries.view));
}

Chunk chunk_from_columns(AnyNumbers indptr, AnyNumbers indices, AnyNumbers values, std::int64_t columns,
                         std::int64_t first_row, std::int32_t first_index) {
    const Array starts = array(indptr, "indptr"), which = array(indices, "indices");
    const Array entries = array(values, "values");
    const nb::gil_scoped_release release;
    return shared(rows_from_columns(starts.view, which.view, entries.view, columns, first_row, first_index));
}

Chunk chunk_from_dense(AnyNumbers leading, AnyNumbers matrix, AnyNumbers columns, std::int32_t first_index) {
    const Array x = array(matrix, "matrix", 2, 2);
    Array before, indices;
    before.view.rows = x.view.rows, before.view.columns = 0;
    if (!leading.is_none()) before = array(leading, "leading", 1, 2);
    if (!columns.is_none()) indices = array(columns, "columns");
    const nb::gil_scoped_release release;
    return shared(rows_from_dense(before.view, x.view, indices.buffer ? &indices.view : nullptr, first_index));
}

Chunk concatenate(nb::typed<nb::iterable, Chunk> chunks) {
    std::vector<std::shared_ptr<const Rows>> parts;
    for (nb::handle chunk : chunks) {
        if (!nb::isinstance<Chunk>(chunk)) throw nb::type_error("something else than a Chunk found among the chunks");
        parts.push_back(nb::cast<const Chunk&>(chunk).rows);
    }
    const nb::gil_scoped_release release;
    return shared(concatenate_rows(parts));
}

template <class Numbers> auto rows_member(Numbers Rows::* member) {
    return [member](nb::handle self) {
        const Numbers& numbers = (*nb::cast<const Chunk&>(self).rows).*member;
        return view(numbers.data(), {static_cast<std::size_t>(numbers.size())}, self);
    };
}

using Gaps = std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>;  // as in Gap

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<Chunk>(m, "Chunk", "Rows of a LIBSVM file; immutable.")
        .def_prop_ro("rows", [](const Chunk& c) { return c.rows->rows; })
        .def_prop_ro("first_line", [](const Chunk& c) { return c.rows->first_line; })
        .def_prop_ro(
            "leading_count", [](const Chunk& c) { return c.rows->leading_count; },
            "numbers before the index:value pairs of a row: 1 for labelled data, 0 for unlabelled data, nr_class - 1 "
            "for support vectors")
        .def_prop_ro(
            "increasing", [](const Chunk& c) { return c.rows->increasing; },
            "whether indices increase within every row; False only for some LIBSVM models' vectors")
        .def_prop_ro("max_index", [](const Chunk& c) { return c.rows->max_index; })
        .def_prop_ro(
            "leading",
            [](nb::handle self) {
                const Rows& r = *nb::cast<const Chunk&>(self).rows;
                const std::size_t columns = static_cast<std::size_t>(r.leading_count);
                return view(r.leading.data(), {static_cast<std::size_t>(r.rows), columns}, self);
            },
            "(rows, leading_count) float64: labels of data, coefficients of support vectors")
        .def_prop_ro("indptr", rows_member(&Rows::indptr), "(rows + 1) int64")
        .def_prop_ro("indices", rows_member(&Rows::indices), "(nnz) int32, as in the file")
        .def_prop_ro("values", rows_member(&Rows::values), "(nnz) float64")
        .def_prop_ro("squared_norms", rows_member(&Rows::squared_norms), "(rows) float64")
        .def(
            "select",
            [](const Chunk& c, const std::vector<std::int64_t>& requested) {
                return shared(select_rows(*c.rows, requested));
            },
            "rows"_a, "A chunk of these rows, in this order.")
        .def(
            "slice",
            [](const Chunk& c, std::int64_t first, std::int64_t last) {
                return shared(slice_rows(*c.rows, first, last));
            },
            "first"_a, "last"_a, "A chunk of rows first, ..., last - 1.")
        .def_static(
            "from_csr", &chunk_from_csr, "leading"_a, "indptr"_a, "indices"_a, "values"_a,
            "A chunk from arrays: numpy's, or any buffers. leading: (rows, leading_count), or (rows) for one number "
            "each, float64; indptr: (rows + 1) int64, row r has entries indptr[r], ..., indptr[r + 1] - 1; indices: "
            "(nnz) int32, LIBSVM's, increasing within a row; values: (nnz) float64, with explicit zeros. int32, int64, "
            "float32 and float64 are converted, but not real numbers to whole ones. Contiguous read-only buffers of "
            "these types are not copied: their memory must not change. Others are copied. Raises ValueError for arrays "
            "that do not fit, and numbers that the parser would refuse.")
        .def_static(
            "from_columns", &chunk_from_columns, "indptr"_a, "indices"_a, "values"_a, "columns"_a, "first_row"_a = 0,
            "first_index"_a = 1,
            "A chunk from SciPy's compressed sparse rows, without leading numbers: column j, from 0 to columns "
            "- 1, is feature j + first_index. Entries of a row may be in any order; those of one column are added in "
            "float64. Types: as from_csr; only values may stay uncopied. indptr: (rows + 1), begins at 0 "
            "unless first_row is above 0; indices, values: from entry indptr[0] on. first_row: number of the "
            "first row, in messages. Raises ValueError, which names the row, for an indptr or a column out of "
            "range, and for a number or sum that is not finite.")
        .def_static("from_dense", &chunk_from_dense, "leading"_a.none(), "matrix"_a, "columns"_a.none() = nb::none(),
                    "first_index"_a = 1,
                    "A chunk from a matrix (rows, d); zeros are not stored. leading (None: no numbers), types and "
                    "ValueError: as from_csr. columns: (d) LIBSVM indices, increasing; None: column j is feature j + "
                    "first_index.")
        .def_static("concatenate", &concatenate, "chunks"_a,
                    "A chunk of all chunks' rows, in order; without chunks, no rows. Raises ValueError if their "
                    "leading_count differs.")
        .def_prop_ro(
            "scaling_counts",
            [](const Chunk& c) {
                const ScalingCounts& counts = c.rows->scaling;
                return std::make_tuple(counts.before, counts.unknown, counts.unknown_index);
            },
            "(entries before scaling, entries dropped because the range file does not name their feature, least index "
            "of these or -1)")
        .def_prop_ro(
            "gaps",
            [](const Chunk& c) {
                Gaps out;
                for (const Gap& gap : c.rows->gaps) out.emplace_back(gap.row, gap.lines, gap.bad);
                return out;
            },
            "[(row, lines, bad)] of the text: `lines` lines before the row are not rows; `bad` of these are malformed, "
            "the others comments")
        .def(
            "line_numbers",
            [](const Chunk& c, const std::vector<std::int64_t>& rows) { return c.rows->line_numbers(rows); }, "rows"_a,
            "Line numbers of these rows, which must increase.")
        .def("__len__", [](const Chunk& c) { return c.rows->rows; });
}

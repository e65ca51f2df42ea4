// Bindings of text/: parsing and formatting.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/bind.h"
#include "engine/line_blocks.h"
#include "text/numbers.h"
#include "text/parse.h"
#include "text/rows.h"
#include "text/scaling.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

// (chunk of the rows before the first error, (line, error) or None, fields per dense row, offset after the text read)
std::tuple<Rows, std::optional<RowProblem>, std::int64_t, std::size_t> parse_text(
    std::string_view text, std::int64_t first_line, int leading_count, bool dense, const std::string& delimiter,
    std::int64_t fields, std::size_t offset, std::int64_t max_rows, const std::string& leading_name,
    bool plain_comments, const Scaling* scaling, bool svmlight) {
    Format format;
    format.leading_count = leading_count;
    format.dense = dense;
    format.delimiter = delimiter.empty() ? ',' : delimiter[0];
    format.fields = fields;
    format.max_rows = max_rows;
    format.leading_name = leading_name.c_str();
    format.plain_comments = plain_comments;
    format.scaling = scaling;
    format.svmlight = svmlight;
    if (offset > text.size()) throw nb::value_error("offset beyond the text");
    ParseResult result = parse(whole_lines(text.substr(offset)), first_line, format);
    std::optional<RowProblem> error;
    if (!result.error.empty()) error.emplace(result.error_line, std::move(result.error));
    return {std::move(result.rows), std::move(error), result.fields, offset + result.consumed};
}

// Raises ValueError(what was found, its offset).
std::pair<Numbers, std::size_t> parse_numbers(std::string_view text, std::int64_t offset, std::int64_t count,
                                              bool single) {
    NumberLines read;
    {
        const nb::gil_scoped_release release;
        read = read_numbers(text, offset, count, single);
    }
    if (!read.error.empty()) raise_value_error(read.error, static_cast<std::int64_t>(read.at));
    return {std::move(read.numbers), read.at};
}

template <class Values> AsBytes number_line(const Values& values) {
    return {format_numbers(values.data(), values.size())};
}

void bind_parsing(nb::module_& m) {
    m.def("parse", &parse_text, "text"_a, "first_line"_a = 1, "leading_count"_a = 1, "dense"_a = false,
          "delimiter"_a = ",", "fields"_a = -1, "offset"_a = 0, "max_rows"_a = -1, "leading_name"_a = "a label",
          "plain_comments"_a = false, "scaling"_a.none() = nb::none(), "svmlight"_a = false, WithoutGil(),
          "Parse whole lines of text. svmlight: skip comment lines, and `qid:N` after the label. Returns (chunk of the "
          "rows before the first error, (line, error) or None, fields per dense row, offset after the text read).");
    m.def("count_lines", &count_lines, "text"_a, WithoutGil(), "Number of line feeds.");
    m.def(
        "format_rows",
        [](const Rows& chunk, const std::vector<std::int64_t>& lines) { return AsBytes{format_rows(chunk, lines)}; },
        "chunk"_a, "lines"_a = std::vector<std::int64_t>(), WithoutGil(),
        "LIBSVM text of a chunk. lines: a line number per row, added as a comment; unlabelled rows then get the label "
        "0.");
    m.def("parse_numbers", &parse_numbers, "text"_a, "offset"_a, "count"_a, "single"_a = false,
          "`count` numbers separated by blanks and line ends, then a line end; single: in single precision's range. "
          "Returns (numbers, offset after the line end). Raises ValueError(what was found, its offset).");
    m.def("format_numbers", &number_line<NumberArray>, "values"_a, "One line of shortest texts.");
    m.def("format_numbers", &number_line<SingleArray>, "values"_a);
    m.def(
        "stored",
        [](Numbers numbers, bool single) {
            const bool finite = round_to_stored(numbers.values, single);
            return std::pair(std::move(numbers), finite);
        },
        "numbers"_a, "single"_a, "(numbers rounded to the stored precision, whether all are finite)");
}

// A view of an object's buffer, which it holds.
struct Array : MatrixView {
    Array() = default;
    // An argument `name` of least to most dimensions.
    Array(nb::handle object, const std::string& name, int least = 1, int most = 1)
        : buffer(new Py_buffer{}, [](Py_buffer* held) {
              const nb::gil_scoped_acquire acquire;
              PyBuffer_Release(held);
              delete held;
          }) {
        if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_FORMAT | PyBUF_STRIDES) != 0) throw nb::python_error();
        const int dimensions = buffer->ndim;
        if (dimensions < least || dimensions > most) {
            const std::string expected = least < most ? "1 or 2" : std::to_string(most);
            fail(name, std::to_string(dimensions) + " dimensions found, expected " + expected);
        }
        data = static_cast<const char*>(buffer->buf);
        const char* format = buffer->format ? buffer->format : "B";
        if (*format == '@' || *format == '=') ++format;  // native byte order
        const std::string letter = format;
        const bool whole = letter == "i" || letter == "l" || letter == "q";
        if (letter == "d" && buffer->itemsize == 8)
            type = NumberType::float64;
        else if (letter == "f" && buffer->itemsize == 4)
            type = NumberType::float32;
        else if (whole && (buffer->itemsize == 8 || buffer->itemsize == 4))
            type = buffer->itemsize == 8 ? NumberType::int64 : NumberType::int32;
        else
            fail(name, "numbers of another type found, expected float64, float32, int64 or int32");
        rows = buffer->shape[0];
        row_stride = buffer->strides[0];
        if (dimensions == 2) columns = buffer->shape[1], column_stride = buffer->strides[1];
        if (buffer->readonly) owner = buffer;
    }

    std::shared_ptr<Py_buffer> buffer;

private:
    [[noreturn]] static void fail(const std::string& name, const std::string& why) {
        throw nb::value_error((name + ": " + why).c_str());
    }
};

Rows chunk_from_csr(AnyNumbers leading, AnyNumbers indptr, AnyNumbers indices, AnyNumbers values) {
    const Array before(leading, "leading", 1, 2), starts(indptr, "indptr"), columns(indices, "indices");
    const Array entries(values, "values");
    const nb::gil_scoped_release release;
    return rows_from_csr(before, starts, columns, entries);
}

Rows chunk_from_columns(AnyNumbers indptr, AnyNumbers indices, AnyNumbers values, std::int64_t columns,
                        std::int64_t first_row, std::int32_t first_index) {
    const Array starts(indptr, "indptr"), which(indices, "indices"), entries(values, "values");
    const nb::gil_scoped_release release;
    return rows_from_columns(starts, which, entries, columns, first_row, first_index);
}

Rows chunk_from_dense(AnyNumbers leading, AnyNumbers matrix, AnyNumbers columns, std::int32_t first_index) {
    const Array x(matrix, "matrix", 2, 2);
    Array before, indices;
    before.rows = x.rows, before.columns = 0;
    if (!leading.is_none()) before = Array(leading, "leading", 1, 2);
    if (!columns.is_none()) indices = Array(columns, "columns");
    const nb::gil_scoped_release release;
    Rows out;
    rows_from_dense(before, x, indices.buffer ? &indices : nullptr, first_index, out);
    return out;
}

Rows concatenate(nb::typed<nb::iterable, Rows> chunks) {
    std::vector<std::shared_ptr<const Rows>> parts;
    for (nb::handle chunk : chunks) {
        if (!nb::isinstance<Rows>(chunk)) throw nb::type_error("something else than a Chunk found among the chunks");
        parts.push_back(nb::cast<std::shared_ptr<const Rows>>(chunk));
    }
    const nb::gil_scoped_release release;
    return concatenate_rows(parts);
}

void bind_rows(nb::module_& m) {
    nb::class_<Rows>(m, "Chunk", "Rows of a LIBSVM file; immutable.")
        .def_ro("rows", &Rows::rows)
        .def_ro("first_line", &Rows::first_line)
        .def_ro("leading_count", &Rows::leading_count,
                "numbers before the index:value pairs of a row: 1 for labelled data, 0 for unlabelled data, nr_class - "
                "1 for support vectors")
        .def_ro("increasing", &Rows::increasing,
                "whether indices increase within every row; False only for some LIBSVM models' vectors")
        .def_ro("max_index", &Rows::max_index)
        .def_prop_ro(
            "leading",
            [](nb::handle self) {
                const Rows& r = nb::cast<const Rows&>(self);
                const std::size_t columns = static_cast<std::size_t>(r.leading_count);
                return view(r.leading.data(), {static_cast<std::size_t>(r.rows), columns}, self);
            },
            "(rows, leading_count) float64: labels of data, coefficients of support vectors")
        .def_prop_ro("indptr", numbers_of(&Rows::indptr), "(rows + 1) int64")
        .def_prop_ro("indices", numbers_of(&Rows::indices), "(nnz) int32, as in the file")
        .def_prop_ro("values", numbers_of(&Rows::values), "(nnz) float64")
        .def_prop_ro("squared_norms", numbers_of(&Rows::squared_norms), "(rows) float64")
        .def("select", &select_rows, "rows"_a, "A chunk of these rows, in this order.")
        .def("slice", &slice_rows, "first"_a, "last"_a, "A chunk of rows first, ..., last - 1.")
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
            [](const Rows& self) {
                return std::tuple(self.scaling.before, self.scaling.unknown, self.scaling.unknown_index);
            },
            "(entries before scaling, entries dropped because the range file does not name their feature, least index "
            "of these or -1)")
        .def_prop_ro(
            "gaps",
            [](const Rows& self) {
                std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> out;
                for (const Gap& gap : self.gaps) out.emplace_back(gap.row, gap.lines, gap.bad);
                return out;
            },
            "[(row, lines, bad)] of the text: `lines` lines before the row are not rows; `bad` of these are malformed, "
            "the others comments")
        .def("line_numbers", &Rows::line_numbers, "rows"_a, "Line numbers of these rows, which must increase.")
        .def("__len__", [](const Rows& self) { return self.rows; });
}

Scaling read_scaling(std::string_view text) { return Scaling::read(whole_lines(text)); }

Scaling with_labels(Scaling scaling, std::string_view text) {
    scaling.read_labels(whole_lines(text));
    return scaling;
}

Rows scaled(const Scaling& scaling, const Rows& chunk) {
    Rows out;
    if (const auto error = scale_rows(scaling, chunk, out)) throw RowError(error->first, error->second);
    return out;
}

void bind_scaling(nb::module_& m) {
    nb::class_<Scaling>(m, "Scaling", "Scaling of features and labels while rows are read; immutable.")
        .def_prop_ro("kind", [](const Scaling& s) { return s.kind() == Scaling::Kind::range ? "range" : "standard"; })
        .def("with_labels", &with_labels, "text"_a,
             "The same, with labels scaled as by a `yscale.file` of R's write.svm. text: its whole lines. Raises "
             "ValueError(reason, line).")
        .def("unrounded", &Scaling::unrounded, "The same, without rounding to six digits.")
        .def("features_alone", &Scaling::features_alone, "The same, without scaling of labels.")
        .def("rows", &scaled, "chunk"_a, WithoutGil(),
             "Scale features as while reading text; labels stay unscaled. Raises RowError for the first row that "
             "cannot be scaled.")
        .def(
            "labels_back",
            [](const Scaling& s) {
                const Scaling::LabelsBack back = s.labels_back();
                return std::tuple(back.from, back.scale, back.to);
            },
            "(from, scale, to): the raw label of a scaled y is to + (y - from) * scale.")
        .def(
            "lines",
            [](const Scaling& s) {
                std::vector<std::tuple<std::int32_t, double, double>> out;
                for (const Scaling::Feature& feature : s.features()) {
                    const Scaling::Line line = s.line(feature);
                    out.emplace_back(feature.index, line.slope, line.offset);
                }
                return out;
            },
            "[(index, slope, offset)]: a value x of the feature becomes slope x + offset, up to rounding.")
        .def(
            "label_line",
            [](const Scaling& s) {
                const auto line = s.label_line();
                return line ? std::optional(std::pair(line->slope, line->offset)) : std::nullopt;
            },
            "(slope, offset) of labels; None if not scaled.")
        .def_prop_ro("max_index", &Scaling::max_index, "largest feature in the file, or 0")
        .def_prop_ro(
            "shifted", [](const Scaling& s) { return s.shifted().size(); },
            "number of features added to rows that lack them: their 0 scales to another value")
        .def("__len__", &Scaling::size);
    m.def("read_scaling", &read_scaling, "text"_a,
          "The Scaling of a file of svm-scale -s or R's write.svm. text: its whole lines. Raises ValueError(reason, "
          "line).");
}

}  // namespace

void bind_text(nb::module_& m) {
    bind_scaling(m);
    bind_rows(m);
    bind_parsing(m);
}

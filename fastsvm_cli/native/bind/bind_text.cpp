// The room text/: chunks of rows, from text, from arrays, and back to text.
#include "bind/bind.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "text/factors.h"
#include "text/from_arrays.h"
#include "text/number_lines.h"
#include "text/numbers.h"
#include "text/parse.h"
#include "text/parse_around.h"
#include "text/scaling.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

Chunk shared(Rows&& rows) { return Chunk{std::make_shared<const Rows>(std::move(rows))}; }

// The buffer of an object, as an array or a matrix of numbers.
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

    // self: keeps this buffer, and with it the numbers.
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
        if (*format == '@' || *format == '=') ++format;  // this machine's order of bytes
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

// A buffer, and the numbers in it.
struct Numbers {
    std::shared_ptr<const Buffer> buffer;
    MatrixView view;
};

Numbers numbers(nb::handle object, const char* name, int least = 1, int most = 1) {
    auto buffer = std::make_shared<const Buffer>(object, name, least, most);
    MatrixView view = buffer->view(buffer);
    return {std::move(buffer), std::move(view)};
}

Chunk chunk_from_csr(AnyNumbers leading, AnyNumbers indptr, AnyNumbers indices, AnyNumbers values) {
    const Numbers before = numbers(leading, "leading", 1, 2), starts = numbers(indptr, "indptr");
    const Numbers columns = numbers(indices, "indices"), entries = numbers(values, "values");
    const nb::gil_scoped_release release;
    return shared(rows_from_csr(before.view, starts.view, columns.view, entries.view));
}

Chunk chunk_from_dense(AnyNumbers leading, AnyNumbers matrix, AnyNumbers columns) {
    const Numbers before = numbers(leading, "leading", 1, 2), x = numbers(matrix, "matrix", 2, 2);
    Numbers indices;
    if (!columns.is_none()) indices = numbers(columns, "columns");
    const nb::gil_scoped_release release;
    return shared(rows_from_dense(before.view, x.view, indices.buffer ? &indices.view : nullptr));
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

Format text_format(int leading_count, bool dense, const std::string& delimiter, std::int64_t fields,
                   const std::string& leading_name, const Scaling* scaling, bool svmlight) {
    Format format;
    format.svmlight = svmlight;
    format.leading_count = leading_count;
    format.dense = dense;
    format.delimiter = delimiter.empty() ? ',' : delimiter[0];
    format.fields = fields;
    format.leading_name = !leading_name.empty() ? leading_name.c_str()
                          : leading_count == 1  ? "a label"
                                                : "a coefficient";
    format.scaling = scaling;
    return format;
}

void check_whole_lines(const Bytes& bytes, std::size_t from) {
    if (from > bytes.size()) throw nb::value_error("offset beyond the text");
    if (bytes.size() > from && bytes.data()[bytes.size() - 1] != '\n')
        throw nb::value_error("the text must end in a newline");
}

using Gaps = std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>;  // as of Gap
using Fault = std::pair<std::int64_t, std::string>;  // line number, what is wrong with the line

nb::typed<nb::tuple, Chunk, std::optional<Fault>, std::int64_t, std::size_t> parse_text(
    AnyText text, std::int64_t first_line, int leading_count, bool dense, const std::string& delimiter,
    std::int64_t fields, std::int64_t offset, std::int64_t max_rows, const std::string& leading_name,
    bool plain_comments, const Scaling* scaling, bool svmlight) {
    const Bytes bytes(text);
    Format format = text_format(leading_count, dense, delimiter, fields, leading_name, scaling, svmlight);
    format.max_rows = max_rows;
    format.plain_comments = plain_comments;
    const std::size_t from = static_cast<std::size_t>(offset);
    check_whole_lines(bytes, from);
    ParseResult result;
    {
        const nb::gil_scoped_release release;
        result = parse(bytes.data() + from, bytes.size() - from, first_line, format);
    }
    nb::object fault = nb::none();
    if (!result.fault.empty()) fault = nb::make_tuple(result.fault_line, result.fault);
    return nb::make_tuple(Chunk{shared(std::move(result.rows))}, fault, result.fields, from + result.consumed);
}

nb::typed<nb::tuple, Chunk, std::vector<Fault>, std::int64_t> parse_text_around(AnyText text, std::int64_t first_line,
                                                                                int leading_count, bool dense,
                                                                                const std::string& delimiter,
                                                                                std::int64_t fields, std::int64_t keep,
                                                                                const Scaling* scaling, bool svmlight) {
    const Bytes bytes(text);
    check_whole_lines(bytes, 0);
    AroundResult result;
    {
        const nb::gil_scoped_release release;
        const Format format = text_format(leading_count, dense, delimiter, fields, "", scaling, svmlight);
        result = parse_around(bytes.data(), bytes.size(), first_line, format, static_cast<std::size_t>(keep));
    }
    nb::list faults;
    for (const auto& [line, why] : result.faults) faults.append(nb::make_tuple(line, why));
    return nb::make_tuple(Chunk{shared(std::move(result.rows))}, faults, result.fields);
}

// What is wrong with line `line` of a text, for Python: (fault, line).
[[noreturn]] void raise_fault(const std::string& fault, std::int64_t line) {
    PyErr_SetObject(PyExc_ValueError, nb::make_tuple(fault, line).ptr());
    throw nb::python_error();
}

// Raises ValueError(what was found, the line where).
std::shared_ptr<Scaling> read_scaling(AnyText text) {
    const Bytes bytes(text);
    check_whole_lines(bytes, 0);
    Scaling::Read read;
    {
        const nb::gil_scoped_release release;
        read = Scaling::read(bytes.data(), bytes.size());
    }
    if (!read.fault.empty()) raise_fault(read.fault, read.line);
    return std::make_shared<Scaling>(std::move(read.scaling));
}

// Raises ValueError(what was found, the line where).
std::shared_ptr<Scaling> with_labels(const Scaling& scaling, AnyText text) {
    const Bytes bytes(text);
    check_whole_lines(bytes, 0);
    auto out = std::make_shared<Scaling>(scaling);
    std::int64_t line = 0;
    const std::string fault = out->read_labels(bytes.data(), bytes.size(), &line);
    if (!fault.empty()) raise_fault(fault, line);
    return out;
}

Chunk multiplied(const Factors& factors, const Chunk& chunk) {
    Rows out;
    std::int64_t row;
    {
        const nb::gil_scoped_release release;
        row = factors.multiply(*chunk.rows, &out);
    }
    if (row >= 0) {
        PyErr_SetObject(PyExc_ValueError, nb::int_(row).ptr());
        throw nb::python_error();
    }
    return shared(std::move(out));
}

// Raises ValueError(what was found, the offset where).
nb::typed<nb::tuple, FloatView, std::size_t> parse_numbers(AnyText text, std::int64_t offset, std::int64_t count,
                                                           bool single) {
    const Bytes bytes(text);
    NumberLines read = read_numbers(bytes.data(), bytes.size(), offset, count, single);
    if (!read.fault.empty()) {
        PyErr_SetObject(PyExc_ValueError, nb::make_tuple(read.fault, read.at).ptr());
        throw nb::python_error();
    }
    return nb::make_tuple(owned(std::move(read.numbers)), read.at);
}

template <class Values> nb::bytes number_line(const Values& values) {
    const std::string text = format_numbers(values.data(), values.size());
    return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_text(nb::module_& m) {
    nb::class_<Scaling>(m, "Scaling", "What becomes of features and labels while rows are read; immutable.")
        .def_prop_ro("kind", [](const Scaling& s) { return s.kind() == Scaling::Kind::range ? "range" : "standard"; })
        .def("with_labels", &with_labels, "text"_a,
             "The same, and labels scaled as the text of a `yscale.file` of R's write.svm says: whole lines. Raises "
             "ValueError(what is wrong with it, line).")
        .def(
            "unrounded", [](const Scaling& s) { return s.unrounded(); },
            "The same in double precision: no value is rounded to six digits.")
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
            "[(index, slope, offset)]: a value x of the feature becomes slope x + offset, but for rounding.")
        .def(
            "label_line",
            [](const Scaling& s) -> std::optional<std::tuple<double, double>> {
                if (!s.scales_labels()) return std::nullopt;
                return std::make_tuple(s.label_line().slope, s.label_line().offset);
            },
            "(slope, offset) of labels; None: they are not scaled.")
        .def_prop_ro(
            "shifted", [](const Scaling& s) { return s.shifted().size(); },
            "how many features become something else where a row does not have them")
        .def("__len__", &Scaling::size);
    m.def(
        "read_scaling", &read_scaling, "text"_a,
        "The Scaling of a file that svm-scale -s or R's write.svm wrote: whole lines. Raises ValueError(what is wrong "
        "with it, line).");
    m.def("round_to_six_digits", &round_to_six_digits, "value"_a, "What printf's %g writes and strtod reads back.");
    nb::class_<Factors>(m, "Factors", "A factor per feature; immutable.")
        .def(nb::init<std::vector<std::int32_t>, std::vector<double>>(), "features"_a, "factors"_a,
             "features: increasing LIBSVM indices. factors: of each. Raises ValueError where they are not as many.")
        .def("multiply", &multiplied, "chunk"_a,
             "The rows with every value multiplied by the factor of its feature, and without the features that have "
             "none. Raises ValueError(row) for the first one where a product overflows.");
    nb::class_<Chunk>(m, "Chunk", "Some rows of a LIBSVM file; immutable.")
        .def_prop_ro("rows", [](const Chunk& c) { return c.rows->rows; })
        .def_prop_ro("first_line", [](const Chunk& c) { return c.rows->first_line; })
        .def_prop_ro(
            "leading_count", [](const Chunk& c) { return c.rows->leading_count; },
            "numbers before the index:value pairs of a row: 1 for labelled data, nr_class - 1 for support vectors")
        .def_prop_ro("max_index", [](const Chunk& c) { return c.rows->max_index; })
        .def_prop_ro(
            "leading",
            [](nb::handle self) {
                const Rows& r = *nb::cast<const Chunk&>(self).rows;
                const std::size_t columns = static_cast<std::size_t>(r.leading_count);
                return view(r.leading.data(), {static_cast<std::size_t>(r.rows), columns}, self);
            },
            "(rows, leading_count) float64: labels of data, coefficients of support vectors")
        .def_prop_ro(
            "indptr",
            [](nb::handle self) {
                const Rows& r = *nb::cast<const Chunk&>(self).rows;
                return view(r.indptr.data(), {static_cast<std::size_t>(r.rows + 1)}, self);
            },
            "(rows + 1) int64")
        .def_prop_ro(
            "indices",
            [](nb::handle self) {
                const Rows& r = *nb::cast<const Chunk&>(self).rows;
                return view(r.indices.data(), {static_cast<std::size_t>(r.indices.size())}, self);
            },
            "(nnz) int32, as in the file")
        .def_prop_ro(
            "values",
            [](nb::handle self) {
                const Rows& r = *nb::cast<const Chunk&>(self).rows;
                return view(r.values.data(), {static_cast<std::size_t>(r.values.size())}, self);
            },
            "(nnz) float64")
        .def_prop_ro(
            "squared_norms",
            [](nb::handle self) {
                const Rows& r = *nb::cast<const Chunk&>(self).rows;
                return view(r.squared_norms.data(), {static_cast<std::size_t>(r.rows)}, self);
            },
            "(rows) float64")
        .def(
            "select",
            [](const Chunk& c, const std::vector<std::int64_t>& wanted) {
                return shared(select_rows(*c.rows, wanted));
            },
            "rows"_a, "A chunk of these rows, in this order.")
        .def(
            "slice",
            [](const Chunk& c, std::int64_t first, std::int64_t last) {
                return shared(slice_rows(*c.rows, first, last));
            },
            "first"_a, "last"_a, "A chunk of the rows first, ..., last - 1.")
        .def_static(
            "from_csr", &chunk_from_csr, "leading"_a, "indptr"_a, "indices"_a, "values"_a,
            "A chunk from arrays: numpy's, or any buffers. leading: (rows, leading_count), or (rows) for one number "
            "each, float64; indptr: (rows + 1) int64, the entries of row r are indptr[r], ..., indptr[r + 1] - 1; "
            "indices: (nnz) int32, LIBSVM's, increasing within a row; values: (nnz) float64, zeros stay. Other "
            "whole numbers of 32 or 64 bits, and float32 for float64, are converted. Read-only buffers of these very "
            "types are not copied: whoever can change their memory nevertheless must not; writable ones are copied. "
            "Raises ValueError where the parser would refuse the numbers.")
        .def_static("from_dense", &chunk_from_dense, "leading"_a, "matrix"_a, "columns"_a.none() = nb::none(),
                    "A chunk from a matrix (rows, d), whose zeros are not stored. leading, types and ValueError: as of "
                    "from_csr. columns: (d), the LIBSVM index of each column, increasing; 1, ..., d without it.")
        .def_static(
            "concatenate", &concatenate, "chunks"_a,
            "A chunk of the rows of all chunks, in order; of none, a chunk without rows. Raises ValueError where their "
            "leading_count differs.")
        .def_prop_ro(
            "scaling_counts",
            [](const Chunk& c) {
                const ScalingCounts& counts = c.rows->scaling;
                return std::make_tuple(counts.before, counts.unknown, counts.unknown_index);
            },
            "of rows as they were read and scaled: (entries before, entries left out because nothing is known of their "
            "feature, the least index of those or -1)")
        .def_prop_ro(
            "gaps",
            [](const Chunk& c) {
                Gaps out;
                for (const Gap& gap : c.rows->gaps) out.emplace_back(gap.row, gap.lines, gap.bad);
                return out;
            },
            "[(row, lines, bad)] of the text they were read from: so many lines before the row that are no rows; of "
            "these `bad` should be rows, and the others are comments")
        .def(
            "line_numbers",
            [](const Chunk& c, const std::vector<std::int64_t>& rows) { return c.rows->line_numbers(rows); }, "rows"_a,
            "The lines that these rows stand on, which increase.")
        .def("__len__", [](const Chunk& c) { return c.rows->rows; });

    m.def("parse", &parse_text, "text"_a, "first_line"_a = 1, "leading_count"_a = 1, "dense"_a = false,
          "delimiter"_a = ",", "fields"_a = -1, "offset"_a = 0, "max_rows"_a = -1, "leading_name"_a = "",
          "plain_comments"_a = false, "scaling"_a.none() = nb::none(), "svmlight"_a = false,
          "Rows of whole lines of text. svmlight: skip lines that are comments, and a `qid:N` behind the label. "
          "Returns (chunk of the rows before the first fault, (line, fault) or None, "
          "fields per row, offset after what was read).");
    m.def(
        "count_lines",
        [](AnyText text) {
            const Bytes bytes(text);
            const nb::gil_scoped_release release;
            return count_lines(bytes.data(), bytes.size());
        },
        "text"_a, "The line feeds in it.");
    m.def("parse_around", &parse_text_around, "text"_a, "first_line"_a = 1, "leading_count"_a = 1, "dense"_a = false,
          "delimiter"_a = ",", "fields"_a = -1, "keep"_a = 0, "scaling"_a.none() = nb::none(), "svmlight"_a = false,
          "As parse, but lines that are no rows are left out: `gaps` of the chunk. Returns (chunk of the rows, [(line, "
          "fault)] of the first `keep` of them, fields per row).");
    m.def(
        "format_rows",
        [](const Chunk& chunk, const std::vector<std::int64_t>& lines) {
            std::string text;
            {
                const nb::gil_scoped_release release;
                text = format_rows(*chunk.rows, lines);
            }
            return nb::bytes(text.data(), text.size());
        },
        "chunk"_a, "lines"_a = std::vector<std::int64_t>(),
        "LIBSVM text of a chunk. lines: a line number per row, as a comment behind it; rows without a label get 0.");
    m.def("parse_numbers", &parse_numbers, "text"_a, "offset"_a, "count"_a, "single"_a = false,
          "Numbers between blanks, the last one followed by a line end; single: of single precision. Returns (numbers, "
          "offset after them).");
    m.def("format_numbers", &number_line<NumberArray>, "values"_a, "One line of shortest texts.");
    m.def("format_numbers", &number_line<SingleArray>, "values"_a);
    m.def(
        "stored",
        [](const NumberArray& numbers, bool single) -> nb::typed<nb::tuple, FloatView, bool> {
            std::vector<double> out(numbers.data(), numbers.data() + numbers.size());
            const bool finite = round_to_stored(out, single);
            return nb::make_tuple(owned(std::move(out)), finite);
        },
        "numbers"_a, "single"_a, "(the numbers in the precision they are stored in, whether all are finite)");
    m.def(
        "format_g",
        [](double value, int digits) {
            char buffer[number_text_max];
            return std::string(buffer, write_g(buffer, value, digits));
        },
        "value"_a, "digits"_a = 6, "printf's %.<digits>g.");
}

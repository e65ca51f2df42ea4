// Bindings of text/: parsing and formatting.
#include "bind/bind.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/numbers.h"
#include "text/parse.h"
#include "text/scaling.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

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

using Error = std::pair<std::int64_t, std::string>;  // line number, reason

nb::typed<nb::tuple, Chunk, std::optional<Error>, std::int64_t, std::size_t> parse_text(
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
    nb::object error = nb::none();
    if (!result.error.empty()) error = nb::make_tuple(result.error_line, result.error);
    return nb::make_tuple(Chunk{shared(std::move(result.rows))}, error, result.fields, from + result.consumed);
}

// Raises ValueError(what was found, its offset).
nb::typed<nb::tuple, FloatView, std::size_t> parse_numbers(AnyText text, std::int64_t offset, std::int64_t count,
                                                           bool single) {
    const Bytes bytes(text);
    NumberLines read;
    {
        const nb::gil_scoped_release release;
        read = read_numbers(bytes.data(), bytes.size(), offset, count, single);
    }
    if (!read.error.empty()) raise_value_error(nb::make_tuple(read.error, read.at));
    return nb::make_tuple(owned(std::move(read.numbers)), read.at);
}

template <class Values> nb::bytes number_line(const Values& values) {
    return bytes_of(format_numbers(values.data(), values.size()));
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def("parse", &parse_text, "text"_a, "first_line"_a = 1, "leading_count"_a = 1, "dense"_a = false,
          "delimiter"_a = ",", "fields"_a = -1, "offset"_a = 0, "max_rows"_a = -1, "leading_name"_a = "",
          "plain_comments"_a = false, "scaling"_a.none() = nb::none(), "svmlight"_a = false,
          "Parse whole lines of text. svmlight: skip comment lines, and `qid:N` after the label. Returns (chunk of the "
          "rows before the first error, (line, error) or None, fields per dense row, offset after the text read).");
    m.def(
        "count_lines",
        [](AnyText text) {
            const Bytes bytes(text);
            const nb::gil_scoped_release release;
            return count_lines(bytes.data(), bytes.size());
        },
        "text"_a, "Number of line feeds.");
    m.def(
        "format_rows",
        [](const Chunk& chunk, const std::vector<std::int64_t>& lines) {
            return written([&] { return format_rows(*chunk.rows, lines); });
        },
        "chunk"_a, "lines"_a = std::vector<std::int64_t>(),
        "LIBSVM text of a chunk. lines: a line number per row, added as a comment; unlabelled rows then get the label "
        "0.");
    m.def("parse_numbers", &parse_numbers, "text"_a, "offset"_a, "count"_a, "single"_a = false,
          "`count` numbers separated by blanks and line ends, then a line end; single: in single precision's range. "
          "Returns (numbers, offset after the line end). Raises ValueError(what was found, its offset).");
    m.def("format_numbers", &number_line<NumberArray>, "values"_a, "One line of shortest texts.");
    m.def("format_numbers", &number_line<SingleArray>, "values"_a);
    m.def(
        "stored",
        [](const NumberArray& numbers, bool single) -> nb::typed<nb::tuple, FloatView, bool> {
            std::vector<double> out(numbers.data(), numbers.data() + numbers.size());
            const bool finite = round_to_stored(out, single);
            return nb::make_tuple(owned(std::move(out)), finite);
        },
        "numbers"_a, "single"_a, "(numbers rounded to the stored precision, whether all are finite)");
}

// Bindings of text/: scaling.
#include "bind/bind.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/model.h"
#include "text/scaling.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

[[noreturn]] void raise_error(const std::string& error, std::int64_t line) {
    raise_value_error(nb::make_tuple(error, line));
}

std::shared_ptr<Scaling> read_scaling(AnyText text) {
    const Bytes bytes(text);
    check_whole_lines(bytes, 0);
    Scaling::Read read;
    {
        const nb::gil_scoped_release release;
        read = Scaling::read(bytes.data(), bytes.size());
    }
    if (!read.error.empty()) raise_error(read.error, read.line);
    return std::make_shared<Scaling>(std::move(read.scaling));
}

std::shared_ptr<Scaling> with_labels(const Scaling& scaling, AnyText text) {
    const Bytes bytes(text);
    check_whole_lines(bytes, 0);
    auto out = std::make_shared<Scaling>(scaling);
    std::int64_t line = 0;
    const std::string error = out->read_labels(bytes.data(), bytes.size(), &line);
    if (!error.empty()) raise_error(error, line);
    return out;
}

Chunk scaled(const Scaling& scaling, const Chunk& chunk) {
    ScaledRows out;
    {
        const nb::gil_scoped_release release;
        out = scale_rows(scaling, *chunk.rows);
    }
    if (!out.error.empty()) throw RowError(out.error_row, out.error);
    return shared(std::move(out.rows));
}

}  // namespace

void bind_scaling(nb::module_& m) {
    nb::class_<Scaling>(m, "Scaling", "Scaling of features and labels while rows are read; immutable.")
        .def_prop_ro("kind", [](const Scaling& s) { return s.kind() == Scaling::Kind::range ? "range" : "standard"; })
        .def("with_labels", &with_labels, "text"_a,
             "The same, with labels scaled as by a `yscale.file` of R's write.svm. text: its whole lines. Raises "
             "ValueError(reason, line).")
        .def(
            "unrounded", [](const Scaling& s) { return s.unrounded(); }, "The same, without rounding to six digits.")
        .def(
            "features_alone", [](const Scaling& s) { return s.features_alone(); },
            "The same, without scaling of labels.")
        .def("rows", &scaled, "chunk"_a,
             "Scale features as while reading text; labels stay unscaled. Raises RowError for the first row that "
             "cannot be scaled.")
        .def(
            "labels_back",
            [](const Scaling& s) {
                const Scaling::LabelsBack back = s.labels_back();
                return std::make_tuple(back.from, back.scale, back.to);
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
            [](const Scaling& s) -> std::optional<std::tuple<double, double>> {
                if (!s.scales_labels()) return std::nullopt;
                return std::make_tuple(s.label_line().slope, s.label_line().offset);
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
    m.def("round_to_six_digits", &round_to_six_digits, "value"_a, "The value that strtod reads from printf's %g.");
}

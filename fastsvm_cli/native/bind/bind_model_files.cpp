// Bindings of engine/: model files, as arguments of the classes in fastsvm_cli/models.
#include "bind/bind.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "bind/bind_header.h"
#include "engine/border_file.h"
#include "engine/carried.h"
#include "engine/checksum.h"
#include "engine/header.h"
#include "engine/kind.h"
#include "engine/libsvm_file.h"
#include "engine/maclaurin_file.h"
#include "engine/model_fault.h"
#include "engine/model_file.h"
#include "engine/ordered_file.h"
#include "engine/sha256.h"
#include "exact/kernel.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

// Raises ModelFault as ModelFormatError(path, why, line).
template <class Read> auto reading(nb::handle path, Read read) {
    try {
        return read();
    } catch (const ModelFault& fault) {
        const nb::object type = nb::module_::import_("fastsvm_cli.errors").attr("ModelFormatError");
        nb::object line = nb::none();
        if (fault.line) line = nb::int_(fault.line);
        PyErr_SetObject(type.ptr(), type(path, fault.what(), line).ptr());
        throw nb::python_error();
    }
}

// Reads a file's bytes without the GIL.
template <class Read> auto reading(AnyText text, nb::handle path, Read read) {
    const Bytes bytes(text);
    return reading(path, [&] {
        const nb::gil_scoped_release release;
        return read(std::string_view(bytes.data(), bytes.size()));
    });
}

Chunk chunk_of(Rows&& rows) { return shared(std::move(rows)); }

nb::dict maclaurin(AnyText text, const nb::str& path) {
    MaclaurinFile file = reading(text, path, read_maclaurin);
    nb::list centers, expansions;
    for (MaclaurinFile::Center& center : file.centers)
        centers.append(nb::make_tuple(owned(std::move(center.point)), center.largest_norm));
    for (MaclaurinFile::Expansion& each : file.expansions) {
        nb::object certificate = nb::none();
        if (each.certificate)
            certificate = nb::make_tuple(each.certificate->truncation, each.certificate->error,
                                         each.certificate->weight, each.certificate->count);
        expansions.append(
            nb::make_tuple(each.pair, each.center, owned(std::move(each.coefficients)), certificate, each.rank));
    }
    nb::dict out;
    out["header"] = keywords_of(file.header);
    out["degree"] = file.degree;
    out["features"] = file.features;
    out["single"] = file.single;
    out["fingerprint"] = file.fingerprint;
    out["centers"] = centers;
    out["expansions"] = expansions;
    out["highest_norm"] = file.highest_norm;
    out["longest_vector"] = file.longest_vector;
    out["raw_rows"] = file.raw_rows;
    return out;
}

nb::dict border(AnyText text, const nb::str& path) {
    BorderFile file = reading(text, path, read_border);
    nb::list samples;
    for (BorderFile::Samples& each : file.samples)
        samples.append(nb::make_tuple(each.level, each.count, owned(std::move(each.rows))));
    nb::dict out;
    out["header"] = keywords_of(file.header);
    out["fingerprint"] = file.fingerprint;
    out["features"] = file.features;
    out["samples"] = samples;
    out["local"] = file.local;
    out["single"] = file.single;
    out["raw_rows"] = file.raw_rows;
    return out;
}

nb::dict density(AnyText text, const nb::str& path) {
    DensityFile file = reading(text, path, read_density);
    nb::dict out;
    out["header"] = keywords_of(file.header);
    out["fingerprint"] = file.fingerprint;
    out["weight"] = file.weight;
    out["rows"] = chunk_of(std::move(file.rows));
    return out;
}

// The LIBSVM model in an ordered model's file.
nb::dict ordered(const OrderedFile& file) {
    nb::dict out;
    const Kernel& kernel = file.kernel;
    out["header"] = keywords_of(file.header);
    out["fingerprint"] = file.fingerprint;
    out["kernel"] =
        nb::make_tuple(kernel_names[static_cast<std::size_t>(kernel.type)], kernel.gamma, kernel.coef0, kernel.degree);
    out["vectors"] = Chunk{file.vectors};
    out["raw_rows"] = file.raw_rows;
    return out;
}

nb::dict triangle(AnyText text, const nb::str& path) {
    const TriangleFile file = reading(text, path, read_triangle);
    nb::dict out = ordered(file);
    out["pivots"] = file.pivots;
    return out;
}

nb::dict geometry(AnyText text, const nb::str& path) {
    GeometryFile file = reading(text, path, read_geometry);
    nb::dict out = ordered(file);
    out["all_vectors"] = Chunk{file.all_vectors};
    out["sequence"] = file.sequence;
    out["points"] = file.points;
    out["b"] = owned(std::move(file.b));
    out["squared_norm"] = file.squared_norm;
    out["b_error"] = file.b_error;
    return out;
}

// (keyword arguments of a Header, support vectors, a reduced set's line or None, a folded model's line or None, notes)
nb::tuple libsvm(AnyText text, const nb::str& path) {
    LibsvmFile file = reading(text, path, read_libsvm);
    nb::object reduced = nb::none(), folded = nb::none();
    if (file.reduced) {
        const Origin& origin = file.reduced->origin;
        reduced = nb::make_tuple(file.reduced->fingerprint, origin.radius, origin.weight,
                                 static_cast<std::int64_t>(origin.count),
                                 static_cast<std::int64_t>(origin.longest_vector), file.reduced->raw_rows);
    }
    if (file.folded) folded = nb::make_tuple(file.folded->fingerprint, file.folded->digest);
    std::vector<std::pair<std::int64_t, std::string>> notes;
    for (ModelNote& note : file.notes) notes.emplace_back(note.line, std::move(note.text));
    return nb::make_tuple(keywords_of(file.header), Chunk{file.vectors}, reduced, folded, notes);
}

}  // namespace

void bind_model_files(nb::module_& m) {
    m.attr("HEADER_KEYS") = nb::tuple(nb::cast(std::vector<std::string>(header_keys.begin(), header_keys.end())));
    m.attr("SVM_TYPES") = nb::tuple(nb::cast(std::vector<std::string>(svm_type_names.begin(), svm_type_names.end())));
    m.attr("KERNEL_TYPES") =
        nb::tuple(nb::cast(std::vector<std::string>(kernel_names.begin(), kernel_names.begin() + libsvm_kernels)));
    m.attr("FORMAT_VERSION") = format_version;
    m.attr("CARRYING_VERSION") = carrying_version;
    m.attr("REDUCED_WORD") = reduced_word;
    m.attr("FOLDED_WORD") = folded_word;
    m.attr("WITHOUT_VECTORS") = without_vectors;
    m.attr("MOST_DENSITY_CELLS") = most_density_cells;

    nb::class_<Sha256>(m, "Sha256", "SHA-256 of a text in pieces.")
        .def(nb::init<>())
        .def(
            "update",
            [](Sha256& self, AnyText text) {
                const Bytes bytes(text);
                const nb::gil_scoped_release release;
                self.update(bytes.data(), bytes.size());
            },
            "text"_a)
        .def("hexdigest", &Sha256::hexadecimal, "The 64 hexadecimal digits. Ends the use of this object.");

    m.def(
        "looks_like_model",
        [](AnyText start, bool dense) {
            const Bytes bytes(start);
            return looks_like_model({bytes.data(), bytes.size()}, dense);
        },
        "start"_a, "dense"_a = false,
        "Whether a file that begins so is meant as a model, readable or not. dense: data may begin with a heading.");
    // These functions raise ModelFormatError for the file `path`.
    m.def(
        "model_kind",
        [](AnyText text, const nb::str& path) {
            const ModelKind kind = reading(text, path, model_kind);
            return std::pair(kind.name, kind.version);
        },
        "text"_a, "path"_a,
        "(kind, version) of a compiled model; ('', 0) for a LIBSVM model. text: at least its first 200 bytes.");
    m.def(
        "open_compiled",
        [](AnyText text, const nb::str& path,
           int version) -> nb::typed<nb::tuple, nb::bytes, std::vector<std::pair<nb::bytes, std::int64_t>>> {
            const OpenedText opened =
                reading(text, path, [&](std::string_view whole) { return open_compiled(whole, version); });
            nb::list ranges;
            for (const RangeText& range : opened.ranges)
                ranges.append(nb::make_tuple(nb::bytes(range.text.data(), range.text.size()), range.first_line));
            return nb::make_tuple(nb::bytes(opened.text.data(), opened.text.size()), ranges);
        },
        "text"_a, "path"_a, "version"_a,
        "Check the checksum. Returns the text for the kind's reader (line ends are LF, the last line is `end`, no "
        "checksum), and [(range file, number of its first line)] that it carries.");
    m.def(
        "own_line",
        [](AnyText text) {
            const Bytes bytes(text);
            return own_line({bytes.data(), bytes.size()});
        },
        "text"_a, "First word of a LIBSVM file's last line if it is fastsvm's, or ''.");
    m.def(
        "check_own_line",
        [](AnyText text, const nb::str& path) {
            reading(text, path, [](std::string_view whole) { return check_own_line(whole), 0; });
        },
        "text"_a, "path"_a, "Raise ModelFormatError if a LIBSVM file with fastsvm's line was changed.");
    m.def("read_libsvm", &libsvm, "text"_a, "path"_a,
          nb::sig("def read_libsvm(text: bytes, path: str) -> tuple[dict, Chunk, tuple | None, tuple | None, "
                  "list[tuple[int, str]]]"),
          "notes: [(line, text)] of what LIBSVM reads and its writer may not have meant.");
    m.def("read_maclaurin", &maclaurin, "text"_a, "path"_a);
    m.def("read_border", &border, "text"_a, "path"_a);
    m.def("read_density", &density, "text"_a, "path"_a);
    m.def("read_triangle", &triangle, "text"_a, "path"_a);
    m.def("read_geometry", &geometry, "text"_a, "path"_a);
    m.def(
        "carried_fault",
        [](const Scaling& scaling, bool regression, std::string raw_rows, bool serials,
           std::vector<std::int32_t> used_indices,
           const std::string& name) -> std::optional<std::pair<std::string, bool>> {
            const auto fault =
                carried_fault(scaling, {regression, std::move(raw_rows), serials, std::move(used_indices)}, name);
            if (!fault) return std::nullopt;
            return std::pair(fault->why, fault->of_model);
        },
        "scaling"_a, "regression"_a, "raw_rows"_a, "serials"_a, "used_indices"_a, "name"_a,
        "(why a model cannot carry the scaling of the file `name`, whether the model is at fault), or None.");
    m.def("first_index", &first_index, "used_indices"_a, "carried"_a.none(),
          "LIBSVM index of column 0 of dense rows: 0 if these features, or those of the scaling, begin at 0, else 1.");
    m.def("raw_rows_because", &raw_rows_because, "carries"_a, "folds"_a);
    m.def("no_certificates", &no_certificates, "certified"_a, "folds"_a, "proves"_a, "compiled"_a,
          "Why a model proves nothing about the exact one, or ''.");
    m.def("too_many_cells", &too_many_cells, "rows"_a, "features"_a);
    m.def(
        "triangle_refusal",
        [](int kernel, double gamma, double coef0, int degree) {
            return triangle_refusal({kernel_type(kernel), gamma, coef0, degree});
        },
        "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a,
        "Why the triangle inequality gives no bound; '' if the kernel decreases with distance.");
    m.def(
        "semidefinite",
        [](int kernel, double gamma, double coef0, int degree) {
            return Kernel{kernel_type(kernel), gamma, coef0, degree}.semidefinite();
        },
        "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "Whether the kernel is positive semidefinite for any vectors.");
}

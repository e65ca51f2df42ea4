// Bindings of engine/: model files.
#include "bind/bind.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/border_file.h"
#include "engine/checksum.h"
#include "engine/compiled_text.h"
#include "engine/density_file.h"
#include "engine/embedded_scaling.h"
#include "engine/geometry_file.h"
#include "engine/header.h"
#include "engine/kind.h"
#include "engine/libsvm_file.h"
#include "engine/load_model.h"
#include "engine/maclaurin_file.h"
#include "engine/model_error.h"
#include "engine/ordered_model.h"
#include "engine/sha256.h"
#include "engine/triangle_file.h"
#include "exact/reference/kernel.h"
#include "models/border.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

// Raises ModelError as ModelFormatError(path, why, line).
template <class Read> auto reading(nb::handle path, Read read) {
    try {
        return read();
    } catch (const ModelError& error) {
        const nb::object type = nb::module_::import_("fastsvm_cli.errors").attr("ModelFormatError");
        nb::object line = nb::none();
        if (error.line) line = nb::int_(error.line);
        PyErr_SetObject(type.ptr(), type(path, error.what(), line).ptr());
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

// "" as None.
std::optional<std::string> or_none(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

IntegerView view_of(const std::vector<std::int32_t>& indices, nb::handle owner) {
    return view<std::int32_t>(indices.data(), {indices.size()}, owner);
}
FloatView view_of(const std::vector<double>& numbers, nb::handle owner) {
    return view<double>(numbers.data(), {numbers.size()}, owner);
}

std::vector<double> copy_of(const NumberArray& numbers) { return {numbers.data(), numbers.data() + numbers.size()}; }

void bind_files_of_models(nb::module_& m) {
    nb::class_<FoldedScaling>(
        m, "FoldedScaling",
        "Scaling folded into a LIBSVM model, which then takes raw rows, and so do models compiled from "
        "it.")
        .def(nb::init<std::string, bool>(), "digest"_a, "inherited"_a = false,
             "digest: fingerprint of the file of --scale. inherited: from the LIBSVM model that this one was compiled "
             "from and whose labels it proves.")
        .def_ro("digest", &FoldedScaling::digest)
        .def_ro("inherited", &FoldedScaling::inherited)
        .def_prop_ro(
            "unproven",
            [](const FoldedScaling& self) { return or_none(no_certificates(true, !self.inherited, false, true)); },
            "why the model proves nothing about its source; None if that takes raw rows too");

    nb::class_<ModelFile>(m, "ModelFile", "A model as its file holds it.")
        .def_prop_ro("kind", [](const ModelFile& self) { return self.kind(); })
        .def_prop_ro(
            "header", [](const ModelFile& self) -> const Header& { return self.header; },
            nb::rv_policy::reference_internal)
        .def_prop_ro("fingerprint", [](const ModelFile& self) { return or_none(self.fingerprint); })
        .def_prop_ro("folded", [](const ModelFile& self) { return self.folded; })
        .def_prop_ro("notes",
                     [](const ModelFile& self) {
                         std::vector<std::pair<std::int64_t, std::string>> out;
                         for (const ModelNote& note : self.notes) out.emplace_back(note.line, note.text);
                         return out;
                     })
        .def_prop_ro("proves", &ModelFile::proves)
        .def_prop_ro("certified", &ModelFile::certified)
        .def_prop_ro("ordered", &ModelFile::ordered)
        .def_prop_ro("vectors",
                     [](const ModelFile& self) -> std::optional<Chunk> {
                         const auto vectors = self.support_vectors();
                         return vectors ? std::optional<Chunk>({vectors}) : std::nullopt;
                     })
        .def_prop_ro("features", [](nb::handle self) { return view_of(std::vector<std::int32_t>(), self); })
        .def_prop_ro("centers", [](nb::handle) { return nb::none(); })
        .def_prop_ro("serials", &ModelFile::serials)
        .def(
            "embed",
            [](ModelFile& self, const std::vector<nb::bytes>& texts, std::shared_ptr<Scaling> scaling) {
                EmbeddedRange embedded{{}, std::move(scaling)};
                for (const nb::bytes& text : texts) embedded.texts.emplace_back(text.c_str(), text.size());
                self.embed(std::move(embedded));
            },
            "texts"_a, "scaling"_a.none(),
            "Apply a scaling to raw rows from now on; None: no more. texts: of the range file, and of e1071's y scale "
            "file if any.")
        .def_prop_ro("range_texts",
                     [](const ModelFile& self) {
                         std::vector<nb::bytes> out;
                         for (const std::string& text : self.embedded().texts) out.push_back(bytes_of(text));
                         return out;
                     })
        .def_prop_ro("range_scaling",
                     [](const ModelFile& self) { return std::const_pointer_cast<Scaling>(self.embedded().scaling); })
        .def_prop_ro("first_index", &ModelFile::first_index)
        .def_prop_ro("pairs", [](const ModelFile& self) { return self.header.pairs(); })
        .def_prop_ro("raw_rows", [](const ModelFile& self) { return or_none(self.raw_rows()); })
        .def_prop_ro("bounded", &ModelFile::bounded)
        .def_prop_ro("judged_by_bound", &ModelFile::judged_by_bound)
        .def_prop_ro("used_indices", &ModelFile::used_indices)
        .def_prop_ro("max_index", &ModelFile::max_index)
        .def_prop_ro("nbytes", &ModelFile::bytes)
        .def_prop_ro("unbounded", &ModelFile::unbounded)
        .def("to_text", [](const ModelFile& self) { return written([&] { return self.to_text(); }); })
        .def("model", &ModelFile::model, nb::call_guard<nb::gil_scoped_release>(),
             "The model that answers rows, built on first use.")
        .def("stopped_after", &ModelFile::stopped_after, nb::call_guard<nb::gil_scoped_release>(), "steps"_a,
             "A model that uses only the first `steps` points; None for other kinds.");

    nb::class_<Origin>(
        m, "Origin",
        "The exact model of a reduced set. radius: (pairs), of B28 and B29 of PROOFS.md. weight, (pairs), "
        "count, longest: for svm-predict's rounding (B5).")
        .def(
            "__init__",
            [](Origin* self, std::vector<double> radius, std::vector<double> weight, std::int64_t count,
               std::int64_t longest) {
                new (self) Origin{0,  std::move(radius),          std::move(weight),
                                  {}, static_cast<double>(count), static_cast<double>(longest)};
            },
            "radius"_a, "weight"_a, "count"_a, "longest"_a)
        .def_ro("radius", &Origin::radius)
        .def_ro("weight", &Origin::weight)
        .def_prop_ro("count", [](const Origin& self) { return static_cast<std::int64_t>(self.count); })
        .def_prop_ro("longest", [](const Origin& self) { return static_cast<std::int64_t>(self.longest_vector); });

    nb::class_<LibsvmFile, ModelFile>(m, "LibsvmFile", "A LIBSVM model, with or without fastsvm's last line.")
        .def(
            "__init__",
            [](LibsvmFile* self, const Header& header, const Chunk& vectors, std::optional<Kernel> kernel,
               std::string fingerprint, std::optional<Origin> origin, std::optional<FoldedScaling> folded) {
                new (self) LibsvmFile(header, vectors.rows, kernel ? *kernel : kernel_of(header),
                                      std::move(fingerprint), std::move(origin), std::move(folded));
            },
            "header"_a, "vectors"_a, "kernel"_a.none() = nb::none(), nb::kw_only(), "fingerprint"_a = "",
            "origin"_a.none() = nb::none(), "folded"_a.none() = nb::none(),
            "vectors: `leading` holds the coefficients, (total_sv, nr_class - 1), in LIBSVM's order. kernel: the "
            "header's, or the one to evaluate on known vectors of a precomputed kernel. fingerprint: of the exact "
            "model's file, or the rows, for fastsvm's line. origin: of a reduced set.")
        .def_ro("kernel", &LibsvmFile::kernel)
        .def_ro("origin", &LibsvmFile::origin)
        .def_prop_ro("inheritance", &LibsvmFile::inheritance, "mark that a model compiled from it takes raw rows")
        .def_prop_ro("svm_model", &LibsvmFile::svm_model)
        .def("plain", &LibsvmFile::plain, "The model without fastsvm's line.")
        .def_prop_ro(
            "evaluator",
            [](const LibsvmFile& self) -> const Exact& {
                const nb::gil_scoped_release release;
                return self.exact_model()->evaluator();
            },
            nb::rv_policy::reference_internal, "Built on first use, which may take seconds.");

    nb::class_<CompiledFile, ModelFile>(m, "CompiledFile", "A compiled model.");
}

void bind_maclaurin(nb::module_& m) {
    m.attr("MAX_DEGREE") = max_degree;
    nb::class_<Certificate>(m, "Certificate", "Upper bounds for an expansion's radius (B1 to B5 and B7 of PROOFS.md).")
        .def(nb::init<std::vector<double>, std::vector<double>, double, double>(), "truncation"_a, "error"_a,
             "weight"_a, "count"_a)
        .def_ro("truncation", &Certificate::truncation)
        .def_ro("error", &Certificate::error)
        .def_ro("weight", &Certificate::weight)
        .def_ro("count", &Certificate::count);
    using Center = MaclaurinFile::Center;
    nb::class_<Center>(m, "Center", "Center of expansions.")
        .def(
            "__init__",
            [](Center* self, const NumberArray& point, double largest_norm) {
                new (self) Center{copy_of(point), largest_norm};
            },
            "point"_a, "largest_norm"_a,
            "point: (d). largest_norm: the largest |x_i - point|^2 over the support vectors, for eq. (3.11).")
        .def_prop_ro("point", numbers_of(&Center::point))
        .def_ro("largest_norm", &Center::largest_norm);
    using Expansion = MaclaurinFile::Expansion;
    nb::class_<Expansion>(m, "Expansion", "The term of a decision function about a center.")
        .def(
            "__init__",
            [](Expansion* self, std::int64_t pair, std::int64_t center, const NumberArray& coefficients,
               std::optional<Certificate> certificate, std::int64_t rank) {
                new (self) Expansion{pair, center, copy_of(coefficients), std::move(certificate), rank};
            },
            "pair"_a, "center"_a, "coefficients"_a, "certificate"_a.none() = nb::none(), "rank"_a = 0,
            "pair, center: numbers of the decision function and of the center. coefficients: c, v (d), M, ..., flat, "
            "in the order of FORMAT.md. rank: of a compressed M, or 0; lambda (rank) and q (rank, d) then replace it.")
        .def_ro("pair", &Expansion::pair)
        .def_ro("center", &Expansion::center)
        .def_prop_ro("coefficients", numbers_of(&Expansion::coefficients))
        .def_ro("certificate", &Expansion::certificate)
        .def_ro("rank", &Expansion::rank);
    nb::class_<MaclaurinFile, CompiledFile>(m, "MaclaurinFile", "A Maclaurin model.")
        .def(
            "__init__",
            [](MaclaurinFile* self, const Header& header, int degree, std::vector<std::int32_t> features, bool single,
               std::string fingerprint, MaclaurinFile::Centers centers, MaclaurinFile::Expansions expansions,
               int highest_norm, int longest_vector, std::optional<FoldedScaling> folded) {
                new (self) MaclaurinFile(header, std::move(fingerprint),
                                         {degree, std::move(features), single, highest_norm, longest_vector},
                                         std::move(centers), std::move(expansions), std::move(folded));
            },
            "header"_a, nb::kw_only(), "degree"_a, "features"_a, "single"_a, "fingerprint"_a, "centers"_a,
            "expansions"_a, "highest_norm"_a = 0, "longest_vector"_a = 0, "folded"_a.none() = nb::none(),
            "single, highest_norm, longest_vector: lines `precision`, `certified`, `longest_vector` of FORMAT.md; "
            "highest_norm is 0 without certificates.")
        .def_prop_ro("degree", [](const MaclaurinFile& self) { return self.keys.degree; })
        .def_prop_ro("features",
                     [](nb::handle self) { return view_of(nb::cast<const MaclaurinFile&>(self).keys.features, self); })
        .def_prop_ro("single", [](const MaclaurinFile& self) { return self.keys.single; })
        .def_prop_ro("highest_norm", [](const MaclaurinFile& self) { return self.keys.highest_norm; })
        .def_prop_ro("longest_vector", [](const MaclaurinFile& self) { return self.keys.longest_vector; })
        .def_ro("centers", &MaclaurinFile::centers)
        .def_ro("expansions", &MaclaurinFile::expansions)
        .def_prop_ro("products", &MaclaurinFile::products,
                     "approximate products for a row with `longest_vector` entries");
}

void bind_border(nb::module_& m) {
    m.attr("MAX_LOCAL") = most_local;
    using Samples = BorderFile::Samples;
    nb::class_<Samples>(m, "Samples", "Border samples of a pair of classes.")
        .def(
            "__init__",
            [](Samples* self, double level, std::int64_t count, const NumberArray& rows) {
                new (self) Samples{level, count, copy_of(rows)};
            },
            "level"_a, "count"_a, "rows"_a,
            "level: decision value of all samples; without samples, of every row. rows: (count, 2, d), flat: each "
            "sample's point, then its normal.")
        .def_ro("level", &Samples::level)
        .def_ro("count", &Samples::count)
        .def_prop_ro("rows", numbers_of(&Samples::rows));
    nb::class_<BorderFile, CompiledFile>(m, "BorderFile", "A border model.")
        .def(nb::init<Header, std::string, std::vector<std::int32_t>, std::vector<std::shared_ptr<const Samples>>, int,
                      bool, std::optional<FoldedScaling>>(),
             "header"_a, nb::kw_only(), "fingerprint"_a, "features"_a, "samples"_a, "local"_a = 1, "single"_a = false,
             "folded"_a.none() = nb::none(), "local, single: FORMAT.md.")
        .def_prop_ro("features", numbers_of(&BorderFile::features))
        .def_ro("samples", &BorderFile::samples)
        .def_ro("local", &BorderFile::local)
        .def_ro("single", &BorderFile::single);
}

void bind_density(nb::module_& m) {
    m.attr("MOST_DENSITY_CELLS") = most_density_cells;
    m.def("too_many_cells", &too_many_cells, "rows"_a, "features"_a);
    nb::class_<DensityFile, CompiledFile>(m, "DensityFile", "Kernel density estimates of variable bandwidth.")
        .def(
            "__init__",
            [](DensityFile* self, const Header& header, std::string fingerprint, double weight, const Chunk& rows) {
                new (self) DensityFile(header, std::move(fingerprint), weight, rows.rows);
            },
            "header"_a, nb::kw_only(), "fingerprint"_a, "weight"_a, "rows"_a,
            "weight: a pair's sum of kernel values; below the number of its rows. rows: the training rows with labels, "
            "by class in the header's order, about another origin.")
        .def_ro("weight", &DensityFile::weight)
        .def_prop_ro("rows", [](const DensityFile& self) { return Chunk{self.rows}; });
}

void bind_ordered(nb::module_& m) {
    m.attr("WITHOUT_VECTORS") = without_vectors;
    m.def("why_no_triangle", &why_no_triangle, "kernel"_a,
          "Why the triangle inequality gives no bound; '' if the kernel decreases with distance.");
    nb::class_<OrderedFile, CompiledFile>(m, "OrderedFile", "A LIBSVM model and an order of its support vectors.")
        .def_prop_ro("exact", [](const OrderedFile& self) { return std::const_pointer_cast<LibsvmFile>(self.exact); })
        .def_prop_ro("ordered_by", &OrderedFile::ordered_by, "a description")
        .def(
            "decide",
            [](const OrderedFile& self, const Chunk& chunk, const Task& task, double tolerance, std::int64_t steps,
               Decisions& out) {
                check_pairs(out, self.header.pairs());
                const nb::gil_scoped_release release;
                const auto model = std::static_pointer_cast<OrderedModel>(self.model());
                return model->decide(*chunk.rows, task, tolerance, steps, out);
            },
            "chunk"_a, "task"_a, "tolerance"_a, "steps"_a, "out"_a,
            "Fill values and radii, without the exact evaluation. steps: the last number of points, or 0. Returns the "
            "undecided rows. For tests.");
    nb::class_<TriangleFile, OrderedFile>(m, "TriangleFile", "A triangle model.")
        .def(nb::init<std::shared_ptr<const LibsvmFile>, std::string, std::vector<std::int64_t>>(), "exact"_a,
             "fingerprint"_a, nb::kw_only(), "pivots"_a, "pivots: rows of exact.vectors, one per list.")
        .def_ro("pivots", &TriangleFile::pivots);
    nb::class_<GeometryFile, OrderedFile>(m, "GeometryFile", "A geometry model.")
        .def(
            "__init__",
            [](GeometryFile* self, std::shared_ptr<LibsvmFile> exact, std::string fingerprint, std::string sequence,
               const Chunk& all_vectors, std::vector<std::int64_t> points, const NumberArray& b,
               std::vector<double> squared_norm, std::vector<double> b_error) {
                new (self) GeometryFile(std::move(exact), std::move(fingerprint), std::move(sequence), all_vectors.rows,
                                        std::move(points), {copy_of(b), std::move(squared_norm), std::move(b_error)});
            },
            "exact"_a, "fingerprint"_a, nb::kw_only(), "sequence"_a, "all_vectors"_a, "points"_a, "b"_a,
            "squared_norm"_a, "b_error"_a,
            "all_vectors: the support vectors, then the folded ones, whose coefficients are 0. points: (k) rows of "
            "all_vectors, in order of evaluation. b: (k, pairs), flat; squared_norm, b_error: (pairs), of "
            "native/models/geometry.h.")
        .def_ro("sequence", &GeometryFile::sequence)
        .def_prop_ro("all_vectors", [](const GeometryFile& self) { return Chunk{self.all_vectors}; })
        .def_ro("points", &GeometryFile::points)
        .def_prop_ro("b", [](nb::handle self) { return view_of(nb::cast<const GeometryFile&>(self).bounds.b, self); })
        .def_prop_ro("squared_norm", [](const GeometryFile& self) { return self.bounds.squared_norm; })
        .def_prop_ro("b_error", [](const GeometryFile& self) { return self.bounds.b_error; });
}

}  // namespace

void bind_model_files(nb::module_& m) {
    m.attr("FORMAT_VERSION") = format_version;
    m.attr("CARRYING_VERSION") = embedding_version;
    m.attr("REDUCED_WORD") = reduced_word;
    m.attr("FOLDED_WORD") = folded_word;
    std::vector<std::string> kinds;
    for (const CompiledKind& kind : compiled_kinds) kinds.push_back(kind.name);
    m.attr("COMPILED_KINDS") = nb::tuple(nb::cast(kinds));
    bind_files_of_models(m);
    bind_maclaurin(m);
    bind_border(m);
    bind_density(m);
    bind_ordered(m);

    m.def(
        "fingerprint",
        [](AnyText text) {
            const Bytes bytes(text);
            const nb::gil_scoped_release release;
            return fingerprint({bytes.data(), bytes.size()});
        },
        "text"_a, "The first 32 hexadecimal digits of the SHA-256.");
    nb::class_<Sha256>(m, "Sha256", "SHA-256 of a text in several buffers.")
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
        "read_model",
        [](AnyText text, const nb::str& path) { return std::shared_ptr<ModelFile>(reading(text, path, read_model)); },
        "text"_a, "path"_a, "A model of any kind, as its own class.");
    m.def(
        "embedding_error",
        [](const Scaling& scaling, const ModelFile* model,
           const std::string& name) -> std::optional<std::pair<std::string, bool>> {
            const auto error = embedding_error(scaling, model, name);
            if (!error) return std::nullopt;
            return std::pair(error->why, error->of_model);
        },
        "scaling"_a, "model"_a.none(), "name"_a,
        "(why a model (None: classes of rows) cannot embed the scaling of the file `name`, whether the reason is in "
        "the "
        "model), or None.");
}

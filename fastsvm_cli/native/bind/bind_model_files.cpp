// Bindings of model files: headers, LIBSVM models and every compiled kind.
#include "bind/bind.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "engine/checksum.h"
#include "engine/header.h"
#include "engine/libsvm_file.h"
#include "engine/model.h"
#include "exact/reference/reference.h"
#include "models/border.h"
#include "models/cascade.h"
#include "models/geometry.h"
#include "models/kind.h"
#include "models/maclaurin.h"
#include "models/ordered.h"
#include "models/triangle.h"
#include "program/prediction.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

// In a tuple, the field as bound, or nothing: arguments that every model needs precede those with a default.
template <bool needed, class Member> auto bound_if(const HeaderField<Member>& of) {
    constexpr bool parameter = std::is_same_v<Member, int> || std::is_same_v<Member, double>;
    constexpr bool optional = std::is_same_v<Member, std::optional<std::vector<double>>> ||
                              std::is_same_v<Member, std::optional<std::vector<int>>>;
    if constexpr (needed == (parameter || optional))
        return std::tuple();
    else if constexpr (needed)
        return std::tuple(field(of.key, of.member));
    else if constexpr (parameter)
        return std::tuple(field(of.key, of.member, Member(0)));
    else
        return std::tuple(field(of.key, of.member, nb::none()));
}

void construct(Header* self, Header header) {
    const auto kernels = kernel_names.begin() + libsvm_kernels;
    if (std::find(svm_type_names.begin(), svm_type_names.end(), header.svm_type) == svm_type_names.end() ||
        std::find(kernel_names.begin(), kernels, header.kernel_type) == kernels)
        throw nb::value_error("no such svm_type or kernel_type");
    new (self) Header(std::move(header));
}

void bind_header(nb::module_& m) {
    m.attr("SVM_TYPES") = nb::tuple(nb::cast(std::vector<std::string>(svm_type_names.begin(), svm_type_names.end())));

    nb::class_<Header> header(
        m, "Header",
        "LIBSVM's keys before the support vectors, which compiled models keep. degree, gamma, coef0: 0 "
        "if the kernel has none. nr_class: 2 for one-class and regression models. label, nr_sv: "
        "(nr_class); None unless classification. rho, probA, probB: (pairs). prob_density_marks: (10).");
    const auto bound = std::apply(
        [](const auto&... of) { return std::tuple_cat(bound_if<true>(of)..., bound_if<false>(of)...); }, header_fields);
    std::apply([&](const auto&... fields) { bind_fields<Header>(header, construct, "", fields...); }, bound);
    header
        .def(
            "changed",
            [](nb::handle self, const nb::kwargs& changes) {
                nb::dict all;
                for (const char* key : header_keys) all[key] = self.attr(key);
                all.update(changes);
                return self.type()(**all);
            },
            "changes"_a, nb::sig("def changed(self, **changes: typing.Any) -> Header"),
            "A copy with other values for some arguments of the constructor.")
        .def_prop_ro("classification", &Header::classification)
        .def_prop_ro("regression", &Header::regression)
        .def_prop_ro("elects", &Header::elects, "whether the prediction is one of at least two labels")
        .def_prop_ro("has_probability", &Header::has_probability, "as LIBSVM's svm_check_probability_model")
        .def_prop_ro("pairs", &Header::pairs)
        .def_prop_ro(
            "class_pairs", [](const Header& self) { return class_pairs(self.nr_class); },
            "as class_pairs(nr_class); [(0, 0, 1)] without classes")
        .def("task", &task_of)
        .def("lines", &Header::lines, "The header's text.");
    m.def("class_pairs", &class_pairs, "nr_class"_a,
          "[(pair, i, j)] for classes i < j, in LIBSVM's order. A positive value votes for i.");
}

// A property: text, "" as None.
template <class Owner, class Text> auto or_none(Text text) {
    return [text](const Owner& self) -> std::optional<std::string> {
        const std::string& found = std::invoke(text, self);
        return found.empty() ? std::nullopt : std::optional(found);
    };
}

void bind_files_of_models(nb::module_& m) {
    bind_record<FoldedScaling>(
        m, "FoldedScaling",
        "Scaling folded into a LIBSVM model, which then takes raw rows, and so do models compiled from it. digest: "
        "fingerprint of the file of --scale. inherited: from the LIBSVM model that this one was compiled from and "
        "whose labels it proves.",
        field("digest", &FoldedScaling::digest), field("inherited", &FoldedScaling::inherited, false))
        .def_prop_ro("unproven", or_none<FoldedScaling>([](const FoldedScaling& self) {
                         return no_certificates(true, !self.inherited, false, true);
                     }),
                     "why the model proves nothing about its source; None if that takes raw rows too");

    nb::class_<ModelFile>(m, "ModelFile", "A model as its file holds it.")
        .def_prop_ro("kind", [](const ModelFile& self) { return self.kind(); })
        .def_prop_ro(
            "header", [](const ModelFile& self) -> const Header& { return self.header; },
            nb::rv_policy::reference_internal)
        .def_prop_ro("fingerprint", or_none<ModelFile>(&ModelFile::fingerprint))
        .def_ro("folded", &ModelFile::folded)
        .def_ro("notes", &ModelFile::notes)
        .def_prop_ro("proves", &ModelFile::proves)
        .def_prop_ro("certified", &ModelFile::certified)
        .def_prop_ro("ordered", &ModelFile::ordered)
        .def_prop_ro("vectors", &ModelFile::support_vectors, nb::sig("def vectors(self) -> Chunk | None"))
        .def_prop_ro("features", [](nb::handle self) { return view<const std::int32_t>(nullptr, {0}, self); })
        .def_prop_ro("centers", [](nb::handle) { return nb::none(); })
        .def_prop_ro("serials", &ModelFile::serials)
        .def(
            "embed",
            [](ModelFile& self, std::vector<std::string> texts, std::shared_ptr<Scaling> scaling) {
                self.embed({std::move(texts), std::move(scaling)});
            },
            "texts"_a, "scaling"_a.none(),
            "Apply a scaling to raw rows from now on; None: no more. texts: of the range file, and of e1071's y scale "
            "file if any.")
        .def_prop_ro("range_texts",
                     [](const ModelFile& self) {
                         std::vector<AsBytes> out;
                         for (const std::string& text : self.embedded().texts) out.push_back({text});
                         return out;
                     })
        .def_prop_ro("range_scaling",
                     [](const ModelFile& self) { return std::const_pointer_cast<Scaling>(self.embedded().scaling); })
        .def_prop_ro("first_index", &ModelFile::first_index)
        .def_prop_ro("pairs", [](const ModelFile& self) { return self.header.pairs(); })
        .def_prop_ro("raw_rows", or_none<ModelFile>(&ModelFile::raw_rows))
        .def_prop_ro("bounded", &ModelFile::bounded)
        .def_prop_ro("judged_by_bound", &ModelFile::judged_by_bound)
        .def_prop_ro("used_indices", &ModelFile::used_indices)
        .def_prop_ro("max_index", &ModelFile::max_index)
        .def_prop_ro("nbytes", &ModelFile::bytes)
        .def_prop_ro("unbounded", &ModelFile::unbounded)
        .def(
            "to_text", [](const ModelFile& self) { return AsBytes{self.to_text()}; }, WithoutGil())
        .def("model", &ModelFile::model, WithoutGil(), "The model that answers rows, built on first use.")
        .def("stopped_after", &ModelFile::stopped_after, WithoutGil(), "steps"_a,
             "A model that uses only the first `steps` points; None for other kinds.");

    bind_record<Origin>(m, "Origin",
                        "The exact model of a reduced set. radius: (pairs), of B28 and B29 of PROOFS.md. weight, "
                        "(pairs), count, longest: for svm-predict's rounding (B5).",
                        field("radius", &Origin::radius), field("weight", &Origin::weight),
                        field("count", &Origin::count), field("longest", &Origin::longest_vector));

    nb::class_<LibsvmFile, ModelFile>(m, "LibsvmFile", "A LIBSVM model, with or without fastsvm's last line.")
        .def(
            "__init__",
            [](LibsvmFile* self, const Header& header, std::shared_ptr<const Rows> vectors,
               std::optional<Kernel> kernel, std::string fingerprint, std::optional<Origin> origin,
               std::optional<FoldedScaling> folded) {
                new (self) LibsvmFile(header, std::move(vectors), kernel ? *kernel : kernel_of(header));
                self->fingerprint = std::move(fingerprint);
                self->origin = std::move(origin);
                self->folded = std::move(folded);
            },
            "header"_a, "vectors"_a, "kernel"_a.none() = nb::none(), nb::kw_only(), "fingerprint"_a = "",
            "origin"_a.none() = nb::none(), "folded"_a.none() = nb::none(),
            "vectors: `leading` holds the coefficients, (total_sv, nr_class - 1), in LIBSVM's order. kernel: the "
            "header's, or the one to evaluate on known vectors of a precomputed kernel. fingerprint: of the exact "
            "model's file, or the rows, for fastsvm's line. origin: of a reduced set.")
        .def_ro("kernel", &LibsvmFile::kernel)
        .def_ro("origin", &LibsvmFile::origin)
        .def_prop_ro("inheritance", &LibsvmFile::inheritance, "mark that a model compiled from it takes raw rows")
        .def("plain", &LibsvmFile::plain, "The model without fastsvm's line.")
        .def(
            "fast_values",
            [](const LibsvmFile& self, const Rows& chunk, Decisions& out) {
                check_pairs(out, self.header.pairs());
                if (self.serials()) throw nb::value_error("a precomputed kernel has no other evaluation");
                self.exact_model()->evaluator().fast_values(chunk, out);
            },
            "chunk"_a, "out"_a, WithoutGil(),
            "Values and rounding radii, without reference sums. The first call may take seconds more.");

    nb::class_<CompiledFile, ModelFile>(m, "CompiledFile", "A compiled model.");
}

void bind_maclaurin(nb::module_& m) {
    m.attr("MAX_DEGREE") = max_degree;
    bind_record<Certificate>(m, "Certificate", "Upper bounds for an expansion's radius (B1 to B5 and B7 of PROOFS.md).",
                             field("truncation", &Certificate::truncation), field("error", &Certificate::error),
                             field("weight", &Certificate::weight), field("count", &Certificate::count));
    using Center = MaclaurinFile::Center;
    bind_record<Center>(m, "Center",
                        "Center of expansions. point: (d). largest_norm: the largest |x_i - point|^2 over the support "
                        "vectors, for eq. (3.11).",
                        field<In::buffer>("point", &Center::point), field("largest_norm", &Center::largest_norm));
    using Expansion = MaclaurinFile::Expansion;
    bind_record<Expansion>(
        m, "Expansion",
        "The term of a decision function about a center. pair, center: numbers of the decision function and of the "
        "center. coefficients: c, v (d), M, ..., flat, in the order of FORMAT.md. rank: of a compressed M, or 0; "
        "lambda (rank) and q (rank, d) then replace it.",
        field("pair", &Expansion::pair), field("center", &Expansion::center),
        field<In::buffer>("coefficients", &Expansion::coefficients),
        field("certificate", &Expansion::certificate, nb::none()), field("rank", &Expansion::rank, 0));
    bind_kind<MaclaurinFile, Header, CompiledFile>(
        m, "MaclaurinFile",
        "A Maclaurin model. single, highest_norm, longest_vector: lines `precision`, `certified`, `longest_vector` of "
        "FORMAT.md; highest_norm is 0 without certificates.",
        "header", field("degree", &MaclaurinFile::degree), field<In::sequence>("features", &MaclaurinFile::features),
        field("single", &MaclaurinFile::single), field<In::argument>("fingerprint", &MaclaurinFile::fingerprint),
        field("centers", &MaclaurinFile::centers), field("expansions", &MaclaurinFile::expansions),
        field("highest_norm", &MaclaurinFile::highest_norm, 0),
        field("longest_vector", &MaclaurinFile::longest_vector, 0),
        field<In::argument>("folded", &MaclaurinFile::folded, nb::none()))
        .def_prop_ro("products", &MaclaurinFile::products,
                     "approximate products for a row with `longest_vector` entries");
}

void bind_border(nb::module_& m) {
    using Samples = BorderFile::Samples;
    bind_record<Samples>(m, "Samples",
                         "Border samples of a pair of classes. level: decision value of all samples; without samples, "
                         "of every row. rows: (count, 2, d), flat: each sample's point, then its normal.",
                         field("level", &Samples::level), field("count", &Samples::count),
                         field<In::buffer>("rows", &Samples::rows));
    bind_kind<BorderFile, Header, CompiledFile>(
        m, "BorderFile", "A border model. local, single: FORMAT.md.", "header",
        field<In::argument>("fingerprint", &BorderFile::fingerprint),
        field<In::sequence>("features", &BorderFile::features), field("samples", &BorderFile::samples),
        field("local", &BorderFile::local, 1), field("single", &BorderFile::single, false),
        field<In::argument>("folded", &BorderFile::folded, nb::none()));
}

void bind_density(nb::module_& m) {
    m.attr("MOST_DENSITY_CELLS") = most_density_cells;
    m.def("too_many_cells", &too_many_cells, "rows"_a, "features"_a);
    bind_kind<DensityFile, Header, CompiledFile>(
        m, "DensityFile",
        "Kernel density estimates of variable bandwidth. weight: a pair's sum of kernel values; below the number of "
        "its rows. rows: the training rows with labels, by class in the header's order, about another origin.",
        "header", field<In::argument>("fingerprint", &DensityFile::fingerprint), field("weight", &DensityFile::weight),
        field("rows", &DensityFile::rows));
}

void bind_ordered(nb::module_& m) {
    m.attr("WITHOUT_VECTORS") = without_vectors;
    m.def("why_no_triangle", &why_no_triangle, "kernel"_a,
          "Why the triangle inequality gives no bound; '' if the kernel decreases with distance.");
    nb::class_<WithExactFile, CompiledFile>(m, "WithExactFile", "A compiled model that holds the exact one.")
        .def_ro("exact", &WithExactFile::exact);
    nb::class_<OrderedFile, WithExactFile>(m, "OrderedFile", "A LIBSVM model and an order of its support vectors.")
        .def_prop_ro("ordered_by", &OrderedFile::ordered_by, "a description")
        .def(
            "decide",
            [](const OrderedFile& self, const Rows& chunk, const Task& task, double tolerance, std::int64_t steps,
               Decisions& out) {
                check_pairs(out, self.header.pairs());
                const auto model = std::static_pointer_cast<OrderedModel>(self.model());
                return model->early->decision_values(chunk, task, tolerance, steps, out);
            },
            "chunk"_a, "task"_a, "tolerance"_a, "steps"_a, "out"_a, WithoutGil(),
            "Fill values and radii, without the exact evaluation. steps: the last number of points, or 0. Returns the "
            "undecided rows. For tests.");
    using Exact = std::shared_ptr<LibsvmFile>;
    bind_kind<TriangleFile, Exact, OrderedFile>(
        m, "TriangleFile", "A triangle model. pivots: rows of exact.vectors, one per list.", "exact",
        field<In::argument>("fingerprint", &TriangleFile::fingerprint), field("pivots", &TriangleFile::pivots));
    bind_kind<GeometryFile, Exact, OrderedFile>(
        m, "GeometryFile",
        "A geometry model. all_vectors: the support vectors, then the folded ones, whose coefficients are 0. points: "
        "(k) rows of all_vectors, in order of evaluation. b: (k, pairs), flat; squared_norm, b_error: (pairs), of "
        "native/models/geometry.h.",
        "exact", field<In::argument>("fingerprint", &GeometryFile::fingerprint),
        field("sequence", &GeometryFile::sequence), field("all_vectors", &GeometryFile::all_vectors),
        field("points", &GeometryFile::points), field<In::buffer>("b", &GeometryFile::b),
        field("squared_norm", &GeometryFile::squared_norm), field("b_error", &GeometryFile::b_error));
}

void bind_cascade(nb::module_& m) {
    bind_record<CascadeStage>(m, "CascadeStage",
                              "A stage of a cascade. polynomial: (pairs, packed coefficients), coefficients: (pairs, "
                              "vectors), both flat.",
                              field("degree", &CascadeStage::degree), field("vectors", &CascadeStage::vectors),
                              field("threshold", &CascadeStage::threshold),
                              field<In::buffer>("polynomial", &CascadeStage::polynomial),
                              field<In::buffer>("coefficients", &CascadeStage::coefficients))
        .def_rw("threshold", &CascadeStage::threshold);
    nb::class_<Cascade>(m, "Cascade", "Stages that give rows a label, or leave them.")
        .def(nb::init<const LibsvmFile&, const std::vector<std::int64_t>&, std::vector<std::int32_t>,
                      std::vector<double>, double, std::vector<CascadeStage>>(),
             "exact"_a, "chosen"_a, "features"_a, "center"_a, "longest"_a, "stages"_a)
        .def(
            "label",
            [](const Cascade& self, const Rows& chunk) {
                std::vector<std::int32_t> winner(static_cast<std::size_t>(chunk.rows));
                std::vector<std::int64_t> stopped(self.stages().size());
                self.label(chunk, winner.data(), stopped.data());
                return std::pair(std::move(winner), std::move(stopped));
            },
            "chunk"_a, WithoutGil(), "(winner of each row or -1, rows answered by each stage)")
        .def(
            "margins",
            [](const Cascade& self, const Rows& chunk, std::size_t stage) {
                std::vector<double> margin(static_cast<std::size_t>(chunk.rows));
                std::vector<std::int32_t> winner(margin.size());
                self.margins(chunk, stage, winner.data(), margin.data());
                return std::pair(std::move(winner), Numbers(std::move(margin)));
            },
            "chunk"_a, "stage"_a, WithoutGil(), "(winner, margin) of each row in one stage.");
    bind_kind<CascadeFile, std::shared_ptr<LibsvmFile>, WithExactFile>(
        m, "CascadeFile", "A cascade.", "exact", field<In::argument>("fingerprint", &CascadeFile::fingerprint),
        field("budget", &CascadeFile::budget), field("confidence", &CascadeFile::confidence),
        field("tested", &CascadeFile::tested), field("differing", &CascadeFile::differing),
        field<In::argument>("chosen", &CascadeFile::chosen), field<In::argument>("features", &CascadeFile::features),
        field<In::argument>("center", &CascadeFile::center), field<In::argument>("longest", &CascadeFile::longest),
        field("stages", &CascadeFile::stages))
        .def("cascade", &CascadeFile::cascade, "The stages, without the exact model.");
}

}  // namespace

void bind_model_files(nb::module_& m) {
    bind_header(m);
    bind_files_of_models(m);
    bind_maclaurin(m);
    bind_border(m);
    bind_density(m);
    bind_ordered(m);
    bind_cascade(m);

    m.def("fingerprint", &fingerprint, "text"_a, WithoutGil(), "The first 32 hexadecimal digits of the SHA-256.");
    m.def("looks_like_model", &looks_like_model, "start"_a, "dense"_a = false,
          "Whether a file that begins so is meant as a model, readable or not. dense: data may begin with a heading.");
    // These functions raise ModelFormatError for the file `path`.
    m.def(
        "model_kind",
        [](std::string_view text, const std::string& path) {
            const ModelKind kind = of_model(path, [&] { return model_kind(text); });
            return std::pair(kind.name, kind.version);
        },
        "text"_a, "path"_a,
        "(kind, version) of a compiled model; ('', 0) for a LIBSVM model. text: at least its first 200 bytes.");
    m.def(
        "read_model",
        [](std::string_view text, const std::string& path) {
            return std::shared_ptr<ModelFile>(of_model(path, [&] { return read_model(text); }));
        },
        "text"_a, "path"_a, WithoutGil(), "A model of any kind, as its own class.");
    m.def(
        "embedding_error",
        [](const Scaling& scaling, const ModelFile* model, const std::string& name) {
            const auto error = embedding_error(scaling, model, name);
            return error ? std::optional(std::pair(error->why, error->of_model)) : std::nullopt;
        },
        "scaling"_a, "model"_a.none(), "name"_a,
        "(why a model (None: classes of rows) cannot embed the scaling of the file `name`, whether the reason is in "
        "the model), or None.");
}

// Bindings for compilers and measurements: kernels, kernel matrices, parts of expansions, answers; threads and
// instruction sets.

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "bind/bind.h"
#include "engine/model.h"
#include "exact/reference/reference.h"
#include "exact/values/panels.h"
#include "models/expansion.h"
#include "simd/loops.h"
#include "simd/parallel.h"
#include "system/platform.h"

using namespace nb::literals;
using namespace fastsvm;

// An argument: a Chunk, or a matrix, whose columns are features 1, 2, ...
struct AnyRows {
    std::shared_ptr<const Rows> rows() const {
        if (chunk) return chunk;
        return std::make_shared<const Rows>(rows_of_matrix(matrix.data(), static_cast<std::int64_t>(matrix.shape(0)),
                                                           static_cast<std::int64_t>(matrix.shape(1))));
    }
    std::shared_ptr<const Rows> chunk;
    NumberMatrix matrix;
};
template <> struct nb::detail::type_caster<AnyRows> {
    NB_TYPE_CASTER(AnyRows, make_caster<Rows>::Name + const_name(" | ") + make_caster<NumberMatrix>::Name)
    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<std::shared_ptr<const Rows>> chunk;
        if (chunk.from_python(from, flags, cleanup)) return value.chunk = std::move(chunk.value), true;
        make_caster<NumberMatrix> matrix;
        return matrix.from_python(from, flags, cleanup) && (value.matrix = std::move(matrix.value), true);
    }
};

namespace {

void check_shape(const NumbersOut& out, std::int64_t rows, std::int64_t columns) {
    if (static_cast<std::int64_t>(out.shape(0)) != rows || static_cast<std::int64_t>(out.shape(1)) != columns)
        throw nb::value_error("wrong shape");
}

void fill_kernel_matrix(const KernelMatrix& self, const Rows& rows, NumbersOut& out) {
    check_shape(out, rows.rows, self.size());
    self.values(rows, out.data());
}

void bind_kernels(nb::module_& m) {
    m.attr("KERNELS") = nb::tuple(nb::cast(std::vector<std::string>(kernel_names.begin(), kernel_names.end())));

    nb::class_<Kernel>(m, "Kernel", "Kernel K(x, z) with parameters; those that its formula lacks are 0.")
        .def(
            "__init__",
            [](Kernel* self, const std::string& type, double gamma, double coef0, int degree) {
                const auto at = std::find(kernel_names.begin(), kernel_names.end(), type);
                if (at == kernel_names.end()) throw nb::value_error("no such kernel");
                new (self) Kernel{static_cast<KernelType>(at - kernel_names.begin()), gamma, coef0, degree};
            },
            "type"_a, "gamma"_a = 0.0, "coef0"_a = 0.0, "degree"_a = 0, "type: one of KERNELS.")
        .def_prop_ro("type", [](const Kernel& self) { return kernel_names[static_cast<std::size_t>(self.type)]; })
        .def_ro("gamma", &Kernel::gamma)
        .def_ro("coef0", &Kernel::coef0)
        .def_ro("degree", &Kernel::degree)
        .def_prop_ro("of_distances", &Kernel::of_distances, "whether values depend on |x - z| alone")
        .def_prop_ro("semidefinite", &Kernel::semidefinite, "whether it is positive semidefinite for any vectors");

    nb::class_<KernelMatrix>(m, "KernelMatrix",
                             "Blocks of kernel values of any rows with fixed vectors: chunks, or matrices, whose "
                             "columns are features 1, 2, ...")
        .def(
            "__init__",
            [](KernelMatrix* self, const Kernel& kernel, const AnyRows& vectors) {
                const nb::gil_scoped_release release;
                new (self) KernelMatrix(kernel, vectors.rows());
            },
            "kernel"_a, "vectors"_a)
        .def(
            "diagonal", [](const KernelMatrix& self) { return Numbers(self.diagonal()); },
            "K of every vector with itself.")
        .def(
            "values",
            [](const KernelMatrix& self, const AnyRows& rows, NumbersOut out) {
                fill_kernel_matrix(self, *rows.rows(), out);
            },
            "rows"_a, "out"_a, WithoutGil(), "Fill out (rows, vectors) with the kernel values.")
        .def(
            "own_values",
            [](const KernelMatrix& self, const std::vector<std::int64_t>& which, NumbersOut out) {
                fill_kernel_matrix(self, select_rows(self.vectors(), which), out);
            },
            "which"_a, "out"_a, WithoutGil(), "As `values`, for some of the vectors.")
        .def(
            "times",
            [](const KernelMatrix& self, const AnyRows& rows, const NumberMatrix& weights, NumbersOut out) {
                const std::int64_t columns = static_cast<std::int64_t>(weights.shape(1));
                if (static_cast<std::int64_t>(weights.shape(0)) != self.size()) throw nb::value_error("wrong shape");
                const auto taken = rows.rows();
                check_shape(out, taken->rows, columns);
                self.times(*taken, weights.data(), columns, out.data());
            },
            "rows"_a, "weights"_a, "out"_a, WithoutGil(),
            "Fill out (rows, columns) with the kernel values of the rows times weights (vectors, columns).");
    m.def("used_indices", &used_indices, "vectors"_a, "LIBSVM indices in the vectors, increasing.");
}

DegreeNorms degree_norms_of(std::size_t n, const NumberArray& a, double gamma, int from, int to) {
    if (n != a.size() || from < 1 || to < from || to > most_degrees) throw nb::value_error("wrong shape or degrees");
    return {static_cast<std::int64_t>(n), a.data(), gamma, from, to};
}

// The parts that make() returns, and the arrays that they point into.
template <class Make, class... Arrays>
std::shared_ptr<DegreeNormParts> with_arrays(Make make, const Arrays&... arrays) {
    const auto held = std::make_shared<std::tuple<std::shared_ptr<DegreeNormParts>, Arrays...>>(nullptr, arrays...);
    const nb::gil_scoped_release release;
    std::get<0>(*held) = make();
    return {held, std::get<0>(*held).get()};
}

void check_sparse(const IndexArray& starts, const ColumnArray& columns, const NumberArray& values, std::int64_t d,
                  const NumberArray& shift, const NumberArray& squared_norms) {
    const std::size_t n = shift.size();
    if (starts.size() != n + 1 || squared_norms.size() != n || columns.size() != values.size() ||
        starts.data()[0] != 0 || starts.data()[n] != static_cast<std::int64_t>(values.size()))
        throw nb::value_error("wrong shape");
    for (std::size_t i = 0; i < n; ++i)
        if (starts.data()[i] > starts.data()[i + 1]) throw nb::value_error("wrong shape");
    for (std::size_t e = 0; e < columns.size(); ++e)
        if (columns.data()[e] < 0 || columns.data()[e] >= d) throw nb::index_error("column out of range");
}

void bind_expansions(nb::module_& m) {
    nb::class_<ExpandedVectors>(m, "ExpandedVectors", "Support vectors of an expansion, as features of a model.")
        .def(nb::init<std::shared_ptr<const Rows>, const std::vector<std::int32_t>&, std::vector<std::int64_t>>(),
             "vectors"_a, "features"_a, "rows"_a)
        .def(
            "expand",
            [](const ExpandedVectors& self, const std::vector<double>& a, const Numbers& center, bool gaussian,
               double gamma, const std::vector<double>& factors) {
                return Numbers(self.expand(a, center.values, gaussian, gamma, factors));
            },
            "a"_a, "center"_a, "gaussian"_a, "gamma"_a, "factors"_a, WithoutGil(),
            "Packed tensors of the expansion with coefficients a about a center.")
        .def(
            "largest_squared_distance",
            [](const ExpandedVectors& self, const Numbers& center) {
                return self.largest_squared_distance(center.values);
            },
            "center"_a, WithoutGil())
        .def("column_ranges", &ExpandedVectors::column_ranges, "Mean, minimum and maximum per feature.");

    nb::class_<DegreeNormParts>(m, "DegreeNormParts",
                                "Squared degree norms W_from^2 .. W_to^2 and W_{>to}^2, in parts of at most about a "
                                "second: add the sums of all parts in order.")
        .def_static(
            "dense",
            [](const NumberMatrix& x, const NumberArray& a, double gamma, int from, int to) {
                const DegreeNorms of = degree_norms_of(x.shape(0), a, gamma, from, to);
                return with_arrays(
                    [&] { return degree_norm_parts(of, static_cast<std::int64_t>(x.shape(1)), x.data()); }, x, a);
            },
            "x"_a, "a"_a, "gamma"_a, "from_degree"_a, "to_degree"_a,
            "Take support vectors x (n, d), about a center, with coefficients a (n).")
        .def_static(
            "sparse",
            [](const IndexArray& starts, const ColumnArray& columns, const NumberArray& values, std::int64_t d,
               const NumberArray& shift, const NumberArray& squared_norms, const NumberArray& a, double gamma, int from,
               int to) {
                const DegreeNorms of = degree_norms_of(shift.size(), a, gamma, from, to);
                check_sparse(starts, columns, values, d, shift, squared_norms);
                const auto make = [&] {
                    return degree_norm_parts(of, d, starts.data(), columns.data(), values.data(), shift.data(),
                                             squared_norms.data());
                };
                return with_arrays(make, starts, columns, values, shift, a);
            },
            "starts"_a, "columns"_a, "values"_a, "features"_a, "shift"_a, "squared_norms"_a, "a"_a, "gamma"_a,
            "from_degree"_a, "to_degree"_a,
            "Take sparse rows y whose center m is not the origin. Their inner products about m are y_i.y_j - shift_i - "
            "shift_j, with shift_i = y_i.m - |m|^2 / 2 (n). squared_norms (n): about m.")
        .def("__len__", &DegreeNormParts::count)
        .def("sums", &DegreeNormParts::sums, "part"_a, WithoutGil(), "Sums of one part.")
        .def("share", &DegreeNormParts::share, "parts"_a, "Share of the work in the first `parts` parts.");
}

void bind_simd(nb::module_& m) {
    m.def("set_threads", &set_threads, "threads"_a, "0: all processors of the process.");
    m.def("set_threads_here", &set_threads_here, "threads"_a,
          "Threads for work that the calling thread starts; 0: the global setting. Returns the previous value.");
    m.def("get_threads", &get_threads);
    m.def("usable_processors", &usable_processors, "Number of processors available to this process.");
    m.def("select_instruction_set", &select_instruction_set, "name"_a,
          "Use the hot loops of one of instruction_sets(); False if unavailable.");
    m.def("instruction_sets", &instruction_sets, "Instruction sets of this machine and build, fastest first.");
    m.def(
        "library_exp", [] { return library_exp() != nullptr; },
        "Whether a loop of this instruction set has the bits of this process's exp, for the reference sum; else the "
        "library is called.");
    m.def("instruction_set", [] { return loops().name; }, "Instruction set of the hot loops in use.");
}

// A property: the numbers of all rows and pairs of a member.
auto of_pairs(std::vector<double> Decisions::* member) {
    return [member](nb::handle self) -> std::optional<FloatView> {
        Decisions& d = nb::cast<Decisions&>(self);
        if (member == &Decisions::radius && !d.with_radius) return std::nullopt;
        const std::size_t rows = static_cast<std::size_t>(d.labels_alone ? 0 : d.rows);
        return view((d.*member).data(), {rows, static_cast<std::size_t>(d.pairs)}, self);
    };
}

void bind_answers(nb::module_& m) {
    nb::class_<Decisions>(m, "Decisions", "Decision values of a chunk; reused from chunk to chunk.")
        .def(nb::init<std::int64_t, bool, bool>(), "pairs"_a, "with_radius"_a = false, "labels_alone"_a = false)
        .def_ro("rows", &Decisions::rows)
        .def_ro("pairs", &Decisions::pairs)
        .def_ro("outside", &Decisions::outside, "number of rows outside the bound of eq. (3.11)")
        .def_rw("reference_rows", &Decisions::reference_rows, "rows evaluated by the reference sum")
        .def_ro("level_rows", &Decisions::level_rows,
                "rows decided per level of an exact model: grid, single precision, double precision, reference sum")
        .def("resize", &Decisions::resize, "rows"_a)
        .def("map_values", &Decisions::map_values, "from_"_a, "scale"_a, "to"_a,
             "A value y becomes to + (y - from_) * scale, scale above 0, with its radius; a radius of 0 stays 0.")
        .def_prop_ro(
            "evaluations", numbers_of(&Decisions::evaluations),
            "(rows) int64: kernel evaluations, with repeats, for models that stop early; valid until the next resize")
        .def_prop_ro("winner", numbers_of(&Decisions::winner),
                     "(rows) int32: class of labels alone; valid until the next resize")
        .def_prop_ro("value", of_pairs(&Decisions::value), nb::sig("def value(self) -> memoryview [float]"),
                     "(rows, pairs) float64, writable; valid until the next resize")
        .def_prop_ro("radius", of_pairs(&Decisions::radius),
                     "(rows, pairs) float64, bounds of |value - svm-predict's|; or None");

    nb::class_<Task>(m, "Task", "The part of a Header that predictions from decision values need.");

    nb::class_<Predictions>(m, "Predictions", "svm-predict's output for a chunk, as numbers.")
        .def(nb::init<>())
        .def_ro("rows", &Predictions::rows)
        .def("iterate_pairs", &Predictions::iterate_pairs,
             "Iterate the probabilities of two classes as those of more, as scikit-learn's LIBSVM does.")
        .def_prop_ro(
            "label", numbers_of(&Predictions::label),
            "(rows) float64: class labels, +1 or -1 (one-class), or regression values; valid until the next `predict`")
        .def_prop_ro(
            "probability",
            [](nb::handle self) {
                const Predictions& p = nb::cast<const Predictions&>(self);
                return view(p.probability.data(),
                            {static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.columns)}, self);
            },
            "(rows, columns) float64, no columns without probabilities: in the order of the model's labels, or normal "
            "and outlier; valid until the next `predict`");

    nb::class_<Score>(m, "Score", "svm-predict's running sums.")
        .def(nb::init<>())
        .def("add", &Score::add, "chunk"_a, "predictions"_a, WithoutGil(), "Add the predictions of a labelled chunk.")
        .def_ro("correct", &Score::correct);

    m.def("predict", &predict, "task"_a, "decisions"_a, "probability"_a, "out"_a, WithoutGil(),
          "Predict labels or regression values, with `probability` also probabilities, as svm-predict does. Raises "
          "ValueError for probabilities of labels alone.");
    m.def("undecided_rows", &undecided_rows, "task"_a, "decisions"_a, "probability"_a = false, "tolerance"_a = 0.0,
          "Rows whose label or, with `probability`, printed probabilities the radii leave undecided; for regression, "
          "rows with a radius above `tolerance`. Raises ValueError without radii.");
}

}  // namespace

void bind_exact(nb::module_& m) {
    bind_answers(m);
    bind_kernels(m);
    bind_expansions(m);
    bind_simd(m);
}

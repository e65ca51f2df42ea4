// Bindings for compilers and measurements: kernels, exact models, kernel matrices, parts of expansions; threads and
// instruction sets.

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "bind/bind.h"
#include "exact/exact.h"
#include "exact/labels/grid_tiles.h"
#include "exact/labels/kernel_tiles.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "exact/values/kernel_matrix.h"
#include "exact/values/panels.h"
#include "models/expansion.h"
#include "simd/library_exp.h"
#include "simd/loops.h"
#include "simd/packed.h"
#include "simd/parallel.h"
#include "system/platform.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

Rows matrix_rows(const NumberMatrix& matrix) {
    return rows_of_matrix(matrix.data(), static_cast<std::int64_t>(matrix.shape(0)),
                          static_cast<std::int64_t>(matrix.shape(1)));
}

void fill_kernel_matrix(const KernelMatrix& kernel_matrix, const Rows& rows, NumbersOut& out) {
    if (static_cast<std::int64_t>(out.shape(0)) != rows.rows ||
        static_cast<std::int64_t>(out.shape(1)) != kernel_matrix.size())
        throw nb::value_error("wrong shape");
    const nb::gil_scoped_release release;
    kernel_matrix.values(rows, out.data());
}

template <class Tiles>
std::vector<double> kernel_sums(const Tiles& self, const Chunk& chunk, const std::vector<std::int64_t>& rows,
                                std::int64_t from, const std::vector<float>& coef) {
    for (std::int64_t row : rows)
        if (row < 0 || row >= chunk.rows->rows) throw nb::index_error("row out of range");
    const std::int64_t count = static_cast<std::int64_t>(coef.size());
    if (from < 0 || count > self.size() - from || from % panel || count % panel)
        throw nb::index_error("whole panels only");
    const auto block = self.block();
    self.take(*chunk.rows, rows.data(), static_cast<std::int64_t>(rows.size()), *block);
    std::vector<double> partial(rows.size() * lanes), sums(rows.size());
    Aligned<float> scratch;
    self.add_sums(*block, static_cast<std::int64_t>(rows.size()), from, from + count, coef.data(), scratch,
                  partial.data());
    for (std::size_t i = 0; i < partial.size(); ++i) sums[i / lanes] += partial[i];
    return sums;
}

}  // namespace

void bind_exact(nb::module_& m) {
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

    nb::class_<SvmModel>(m, "SvmModel", "The numbers of an exact model.")
        .def(
            "__init__",
            [](SvmModel* self, const Kernel& kernel, bool regression, std::vector<std::int64_t> nr_sv,
               std::vector<double> rho, const Chunk& vectors) {
                new (self) SvmModel{kernel, regression, std::move(nr_sv), std::move(rho), vectors.rows};
            },
            "kernel"_a, "regression"_a, "nr_sv"_a, "rho"_a, "vectors"_a)
        .def(
            "kernel_row",
            [](const SvmModel& self, const Chunk& x, std::int64_t row, const Chunk& z) {
                if (row < 0 || row >= x.rows->rows) throw nb::index_error("row out of range");
                if (self.kernel.type == KernelType::precomputed)
                    throw nb::value_error("rows of a precomputed kernel are kernel values");
                const nb::gil_scoped_release release;
                return reference_kernel_row(self.kernel, *x.rows, row, *z.rows);
            },
            "x"_a, "row"_a, "z"_a, "K of a row of x with every row of z, as LIBSVM computes it.");

    nb::class_<SingleTiles>(m, "SingleTiles", "RBF kernel values in single precision.")
        .def(
            "__init__",
            [](SingleTiles* self, const SvmModel& model) {
                if (!SingleTiles::holds(model)) throw nb::value_error("another kernel than these are for");
                new (self) SingleTiles(model, in_order(model.total_sv()));
            },
            "model"_a)
        .def("kernel_sums", &kernel_sums<SingleTiles>, "chunk"_a, "rows"_a, "start"_a, "coef"_a,
             "As GridTiles.kernel_sums.");

    nb::class_<Exact>(m, "Exact", "An exact LIBSVM model, ready for evaluation.")
        .def(
            "__init__",
            [](Exact* self, const SvmModel& model) {
                const nb::gil_scoped_release release;
                new (self) Exact(model);
            },
            "model"_a)
        .def(
            "fast_values",
            [](const Exact& self, const Chunk& chunk, Decisions& out) {
                check_pairs(out, self.model().pairs());
                if (self.model().kernel.type == KernelType::precomputed)
                    throw nb::value_error("a precomputed kernel has no other evaluation");
                const nb::gil_scoped_release release;
                self.fast_values(*chunk.rows, out);
            },
            "chunk"_a, "out"_a, "Values and rounding radii, without reference sums.")
        .def(
            "reference_sums",
            [](const Exact& self, const Chunk& chunk, Decisions& out) {
                check_pairs(out, self.model().pairs());
                const nb::gil_scoped_release release;
                const std::int64_t row = self.without_serials(*chunk.rows);
                if (row < 0) reference_sums(self.model(), *chunk.rows, out);
                return row;
            },
            "chunk"_a, "out"_a,
            "Decision values in LIBSVM's order of operations. Returns the first precomputed row that lacks serials, or "
            "-1.");

    nb::class_<KernelMatrix>(m, "KernelMatrix", "Blocks of kernel values of any rows with fixed vectors.")
        .def(
            "__init__",
            [](KernelMatrix* self, const Kernel& kernel, const Chunk& vectors) {
                const nb::gil_scoped_release release;
                new (self) KernelMatrix(kernel, vectors.rows);
            },
            "kernel"_a, "vectors"_a)
        .def(
            "__init__",
            [](KernelMatrix* self, const Kernel& kernel, const NumberMatrix& vectors) {
                const nb::gil_scoped_release release;
                new (self) KernelMatrix(kernel, std::make_shared<const Rows>(matrix_rows(vectors)));
            },
            "kernel"_a, "vectors"_a,
            "vectors: rows of a matrix, whose columns are features 1, 2, ...; as in all matrices here.")
        .def(
            "diagonal", [](const KernelMatrix& self) { return owned(self.diagonal()); },
            "K of every vector with itself.")
        .def(
            "values",
            [](const KernelMatrix& self, const Chunk& rows, NumbersOut out) {
                fill_kernel_matrix(self, *rows.rows, out);
            },
            "rows"_a, "out"_a, "Fill out (rows, vectors) with the kernel values.")
        .def(
            "values",
            [](const KernelMatrix& self, const NumberMatrix& rows, NumbersOut out) {
                fill_kernel_matrix(self, matrix_rows(rows), out);
            },
            "rows"_a, "out"_a)
        .def(
            "own_values",
            [](const KernelMatrix& self, const std::vector<std::int64_t>& which, NumbersOut out) {
                fill_kernel_matrix(self, select_rows(self.vectors(), which), out);
            },
            "which"_a, "out"_a, "As `values`, for some of the vectors.")
        .def(
            "times",
            [](const KernelMatrix& self, const NumberMatrix& rows, const NumberMatrix& weights, NumbersOut out) {
                if (static_cast<std::int64_t>(weights.shape(0)) != self.size() || out.shape(0) != rows.shape(0) ||
                    out.shape(1) != weights.shape(1))
                    throw nb::value_error("wrong shape");
                const nb::gil_scoped_release release;
                self.times(matrix_rows(rows), weights.data(), static_cast<std::int64_t>(weights.shape(1)), out.data());
            },
            "rows"_a, "weights"_a, "out"_a,
            "Fill out (rows, columns) with the kernel values of the rows times weights (vectors, columns).");

    nb::class_<GridTiles>(m, "GridTiles", "RBF kernel values of vectors on a grid, from whole numbers.")
        .def_static(
            "of",
            [](const SvmModel& model, const std::vector<std::int64_t>& order) {
                for (std::int64_t row : order)
                    if (row < -1 || row >= model.vectors->rows) throw nb::index_error("row out of range");
                return GridTiles::of(model, order).release();
            },
            nb::rv_policy::take_ownership, "model"_a, "order"_a,
            "Tiles of the support vectors in this order, -1 for padding; None if the kernel is not RBF, or the vectors "
            "are off a grid, or wide and sparse.")
        .def_prop_ro("features_per_word", &GridTiles::features_per_word)
        .def_prop_ro("products", &GridTiles::products, "Products per kernel value, for a row like the vectors.")
        .def("kernel_sums", &kernel_sums<GridTiles>, "chunk"_a, "rows"_a, "start"_a, "coef"_a,
             "Sums of these rows' kernel values with the vectors from `start` on (whole panels), times `coef`. For "
             "measurements.");

    m.def(
        "used_indices", [](const Chunk& vectors) { return used_indices(*vectors.rows); }, "vectors"_a,
        "LIBSVM indices in the vectors, increasing.");
}

namespace {

DegreeNorms degree_norms_of(std::size_t n, const NumberArray& a, double gamma, int from, int to) {
    if (n != a.size() || from < 1 || to < from || to > most_degrees) throw nb::value_error("wrong shape or degrees");
    return {static_cast<std::int64_t>(n), a.data(), gamma, from, to};
}

// Owns the arrays that its DegreeNormParts point into.
struct HeldParts {
    std::shared_ptr<const void> arrays;
    std::shared_ptr<const DegreeNormParts> parts;
};

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

void check_rows(const Chunk& chunk, const std::vector<std::int64_t>& rows) {
    for (std::int64_t row : rows)
        if (row < 0 || row >= chunk.rows->rows) throw nb::index_error("row out of range");
}

}  // namespace

void bind_models(nb::module_& m) {
    m.def(
        "expand",
        [](const Chunk& vectors, const std::vector<std::int32_t>& features, const std::vector<std::int64_t>& rows,
           const std::vector<double>& a, const NumberArray& center, bool gaussian, double gamma,
           const std::vector<double>& factors) {
            check_rows(vectors, rows);
            if (center.size() != features.size() || a.size() != rows.size() || factors.empty() ||
                factors.size() > max_degree + 1)
                throw nb::value_error("wrong number of values");
            std::vector<double> numbers;
            {
                const nb::gil_scoped_release release;
                const Features columns(features);
                numbers = expand({*vectors.rows, columns, rows, center.data()}, a.data(), gaussian, gamma, factors);
            }
            return owned(std::move(numbers));
        },
        "vectors"_a, "features"_a, "rows"_a, "a"_a, "center"_a, "gaussian"_a, "gamma"_a, "factors"_a,
        "Packed tensors of an expansion of these support vectors about a center.");
    m.def(
        "largest_squared_distance",
        [](const Chunk& vectors, const std::vector<std::int32_t>& features, const std::vector<std::int64_t>& rows,
           const NumberArray& center) {
            check_rows(vectors, rows);
            if (center.size() != features.size()) throw nb::value_error("wrong number of values");
            const nb::gil_scoped_release release;
            const Features columns(features);
            return largest_squared_distance({*vectors.rows, columns, rows, center.data()});
        },
        "vectors"_a, "features"_a, "rows"_a, "center"_a);
    m.def(
        "column_ranges",
        [](const Chunk& vectors, const std::vector<std::int32_t>& features, const std::vector<std::int64_t>& rows)
            -> nb::typed<nb::tuple, std::vector<double>, std::vector<double>, std::vector<double>> {
            check_rows(vectors, rows);
            const Features columns(features);
            std::vector<double> mean(features.size()), low(mean), high(mean);
            column_ranges({*vectors.rows, columns, rows, nullptr}, mean.data(), low.data(), high.data());
            return nb::make_tuple(mean, low, high);
        },
        "vectors"_a, "features"_a, "rows"_a, "Mean, minimum and maximum per feature.");
    nb::class_<HeldParts>(m, "DegreeNormParts",
                          "Squared degree norms W_from^2 .. W_to^2 and W_{>to}^2, in parts of at most about a "
                          "second: add the sums of all parts in order.")
        .def_static(
            "dense",
            [](const NumberMatrix& x, const NumberArray& a, double gamma, int from, int to) {
                const DegreeNorms of = degree_norms_of(x.shape(0), a, gamma, from, to);
                auto arrays = std::make_shared<std::tuple<NumberMatrix, NumberArray>>(x, a);
                const nb::gil_scoped_release release;
                return HeldParts{arrays, degree_norm_parts(of, static_cast<std::int64_t>(x.shape(1)), x.data())};
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
                auto arrays =
                    std::make_shared<std::tuple<IndexArray, ColumnArray, NumberArray, NumberArray, NumberArray>>(
                        starts, columns, values, shift, a);
                const nb::gil_scoped_release release;
                return HeldParts{arrays, degree_norm_parts(of, d, starts.data(), columns.data(), values.data(),
                                                           shift.data(), squared_norms.data())};
            },
            "starts"_a, "columns"_a, "values"_a, "features"_a, "shift"_a, "squared_norms"_a, "a"_a, "gamma"_a,
            "from_degree"_a, "to_degree"_a,
            "Take sparse rows y whose center m is not the origin. Their inner products about m are y_i.y_j - shift_i - "
            "shift_j, with shift_i = y_i.m - |m|^2 / 2 (n). squared_norms (n): about m.")
        .def("__len__", [](const HeldParts& self) { return self.parts->count(); })
        .def(
            "sums",
            [](const HeldParts& self, std::int64_t part) {
                if (part < 0 || part >= self.parts->count()) throw nb::index_error("part out of range");
                const nb::gil_scoped_release release;
                return self.parts->sums(part);
            },
            "part"_a, "Sums of one part.")
        .def(
            "share",
            [](const HeldParts& self, std::int64_t parts) {
                if (parts < 0 || parts > self.parts->count()) throw nb::index_error("part out of range");
                return self.parts->share(parts);
            },
            "parts"_a, "Share of the work in the first `parts` parts.");
}

namespace {

const char* library_exp_name() {
    const ExpLoop loop = library_exp();
    return !loop ? "" : loop == loops().wide_reference->fused_exp ? "fused" : "plain";
}

}  // namespace

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
        "multiply_adds",
        [](bool single, std::int64_t times) {
            double sum = 0;
            const nb::gil_scoped_release release;
            return (single ? loops().products->single_multiply_adds : loops().products->double_multiply_adds)(times,
                                                                                                              &sum);
        },
        "single"_a, "times"_a,
        "Do `times` rounds of independent multiply-adds, and return the number of multiply-adds. For benchmarks of the "
        "processor.");
    m.def("library_exp", &library_exp_name,
          "Loop of this instruction set, 'plain' or 'fused', with the bits of this process's exp, for the reference "
          "sum; '' if none: the library is called.");
    m.def("instruction_set", [] { return loops().name; }, "Instruction set of the hot loops in use.");
}

// Bindings of answers/: decisions and predictions.

namespace {

// A view (rows, columns) that keeps `owner` alive.
FloatView writable_view(std::vector<double>& numbers, std::int64_t rows, std::int64_t columns, nb::handle owner) {
    static double none;  // even an empty view needs an address
    return nb::steal<FloatView>(
        nb::cast(nb::ndarray<nb::memview, double>(numbers.empty() ? &none : numbers.data(),
                                                  {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)},
                                                  owner),
                 nb::rv_policy::reference)
            .release());
}

}  // namespace

void bind_answers(nb::module_& m) {
    nb::class_<Decisions>(m, "Decisions", "Decision values of a chunk; reused from chunk to chunk.")
        .def(nb::init<std::int64_t, bool, bool>(), "pairs"_a, "with_radius"_a = false, "labels_alone"_a = false)
        .def_ro("rows", &Decisions::rows)
        .def_ro("pairs", &Decisions::pairs)
        .def_ro("outside", &Decisions::outside, "number of rows outside the bound of eq. (3.11)")
        .def_rw("reference_rows", &Decisions::reference_rows, "rows evaluated by the reference sum")
        .def_ro("level_rows", &Decisions::level_rows,
                "rows decided per level of an exact model: grid, single precision, double precision, reference sum")
        .def_prop_ro("kernel_evaluations", &Decisions::kernel_evaluations, "sum of `evaluations`")
        .def("count", &Decisions::count, "evaluations"_a, "Add kernel evaluations to every row.")
        .def("resize", &Decisions::resize, "rows"_a)
        .def("put", &Decisions::put, "rows"_a, "from_"_a,
             "Replace the values and radii (0 if `from_` has none) of these rows, and add their costs.")
        .def("map_values", &Decisions::map_values, "from_"_a, "scale"_a, "to"_a,
             "A value y becomes to + (y - from_) * scale, scale above 0, with its radius; a radius of 0 stays 0.")
        .def_prop_ro(
            "evaluations", numbers_of(&Decisions::evaluations),
            "(rows) int64: kernel evaluations, with repeats, for models that stop early; valid until the next resize")
        .def_prop_ro("winner", numbers_of(&Decisions::winner),
                     "(rows) int32: class of labels alone; valid until the next resize")
        .def_prop_ro(
            "value",
            [](nb::handle self) {
                Decisions& d = nb::cast<Decisions&>(self);
                return writable_view(d.value, d.labels_alone ? 0 : d.rows, d.pairs, self);
            },
            "(rows, pairs) float64, writable; valid until the next resize")
        .def_prop_ro(
            "radius",
            [](nb::handle self) {
                Decisions& d = nb::cast<Decisions&>(self);
                nb::object found = nb::none();
                if (d.with_radius) found = writable_view(d.radius, d.rows, d.pairs, self);
                return nb::steal<OptionalFloatView>(found.release());
            },
            "(rows, pairs) float64, bounds of |value - svm-predict's|; or None");

    nb::class_<Task>(m, "Task",
                     "Parameters of predictions from decision values: svm_type, labels, probability parameters.")
        .def(
            "__init__",
            [](Task* task, int type, std::vector<int> labels, std::vector<double> prob_a, std::vector<double> prob_b,
               std::vector<double> marks) {
                new (task) Task{static_cast<SvmType>(type), std::move(labels), std::move(prob_a), std::move(prob_b),
                                std::move(marks)};
            },
            "svm_type"_a, "labels"_a, "prob_a"_a, "prob_b"_a, "density_marks"_a);

    nb::class_<Predictions>(m, "Predictions", "svm-predict's output for a chunk, as numbers.")
        .def(nb::init<>())
        .def_ro("rows", &Predictions::rows)
        .def("put", &Predictions::put, "rows"_a, "from_"_a, "Replace the labels of these rows.")
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
        .def(
            "add", [](Score& s, const Chunk& c, const Predictions& p) { s.add(*c.rows, p); }, "chunk"_a,
            "predictions"_a, nb::call_guard<nb::gil_scoped_release>(), "Add the predictions of a labelled chunk.")
        .def_ro("correct", &Score::correct);

    m.def(
        "predict",
        [](const Task& task, const Decisions& decisions, bool probability, Predictions& out) {
            if (decisions.labels_alone && probability) throw nb::value_error("labels alone have no probabilities");
            predict(task, decisions, probability, out);
        },
        "task"_a, "decisions"_a, "probability"_a, "out"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Predict labels or regression values, with `probability` also probabilities, as svm-predict does. Raises "
        "ValueError for probabilities of labels alone.");
    m.def(
        "undecided_rows",
        [](const Task& task, const Decisions& decisions, bool probability, double tolerance) {
            if (!decisions.with_radius) throw nb::value_error("decisions without radii decide no row");
            return undecided_rows(task, decisions, probability, tolerance);
        },
        "task"_a, "decisions"_a, "probability"_a = false, "tolerance"_a = 0.0,
        "Rows whose label or, with `probability`, printed probabilities the radii leave undecided; for regression, "
        "rows "
        "with a radius above `tolerance`. Raises ValueError without radii.");
    m.def(
        "format_lines",
        [](const Task& task, const Predictions& predictions, const Decisions* values, bool odds,
           const Decisions* evaluations) {
            if (values && values->labels_alone) throw nb::value_error("labels alone have no values");
            if (evaluations && evaluations->rows != predictions.rows) throw nb::value_error("other rows");
            const std::int64_t* const counts = evaluations ? evaluations->evaluations.data() : nullptr;
            return written([&] { return format(task, predictions, values, odds, counts); });
        },
        "task"_a, "predictions"_a, "values"_a.none(), "odds"_a = false, "evaluations"_a.none() = nb::none(),
        "svm-predict's output lines. values: append decision values, and radii if any; odds: append DeCoste's p+ (eq. "
        "32) if there are radii; evaluations: append the kernel evaluations.");
}

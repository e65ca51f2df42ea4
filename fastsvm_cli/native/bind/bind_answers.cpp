// Bindings of answers/: decisions and predictions.
#include "bind/bind.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "answers/decisions.h"
#include "answers/predictions.h"

using namespace nb::literals;
using namespace fastsvm;

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
        "unknown_labels",
        [](const Task& task, const Chunk& chunk) {
            const UnknownLabels found = unknown_labels(task, *chunk.rows);
            return nb::make_tuple(found.rows, found.zeros);
        },
        "task"_a, "chunk"_a, nb::sig("def unknown_labels(task: Task, chunk: Chunk) -> tuple[int, int]"),
        "Number of rows whose label the model does not have, and number of these with label 0.");
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

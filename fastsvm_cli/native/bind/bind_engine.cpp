// Bindings of engine/: models and answers.
#include "bind/bind.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/model.h"
#include "engine/precision.h"
#include "engine/predictor.h"
#include "engine/summary.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

// Number of classes with this number of pairs.
int classes_of(std::size_t pairs) {
    return static_cast<int>(std::lround((1 + std::sqrt(1 + 8 * static_cast<double>(pairs))) / 2));
}

using Sigmoids = std::pair<std::vector<double>, std::vector<double>>;

void bind_precision(nb::module_& m) {
    nb::class_<Precision>(
        m, "Precision",
        "Required precision of decision values: labels, values within a tolerance, or values; made by "
        "one of the three constructors. Models that stop early, or start in lower precision, continue "
        "until they have it; others may give more.")
        .def_static(
            "labels", [] { return Precision(); },
            "Labels only. A regression model's label is the value, up to rounding.")
        .def_static(
            "within",
            [](double tolerance) {
                Precision out;
                out.tolerance = tolerance;
                return out;
            },
            "tolerance"_a, "Values within `tolerance` of svm-predict's; regression models only.")
        .def_static(
            "values",
            [](std::vector<Precision::Side> sides, std::optional<Sigmoids> odds) {
                Precision out;
                out.sides = std::move(sides);
                if (odds) out.odds = {classes_of(odds->first.size()), std::move(odds->first), std::move(odds->second)};
                return out;
            },
            "sides"_a = std::vector<Precision::Side>(), "odds"_a.none() = nb::none(),
            "Values up to rounding, and labels. sides: (value, margin) pairs, thresholds like zero, each anywhere "
            "within its margin; one decision function only. odds: (A, B) of every pair's sigmoid 1 / (1 + exp(A f + "
            "B)): a model that proves its labels returns values whose probabilities print as svm-predict's, digit for "
            "digit.")
        .def_ro("tolerance", &Precision::tolerance, "argument of `within`, or None")
        .def_ro("sides", &Precision::sides, "argument of `values`, or None")
        .def_prop_ro(
            "odds",
            [](const Precision& self) -> std::optional<Sigmoids> {
                if (!self.odds) return std::nullopt;
                return Sigmoids(self.odds->a, self.odds->b);
            },
            "argument of `values`, or None");
}

void bind_engines(nb::module_& m) {
    nb::class_<Model>(m, "Model", "A model that the core evaluates; immutable.")
        .def(
            "decisions",
            [](const Model& self, const Precision& precision, bool radius) {
                return self.decisions(precision, radius);
            },
            "precision"_a, "with_radius"_a)
        .def(
            "decision_values",
            [](const Model& self, const Chunk& chunk, const Precision& precision, Decisions& out) {
                check_pairs(out, self.pairs(), self.decisions(precision, out.with_radius).labels_alone);
                const nb::gil_scoped_release release;
                self.decision_values(*chunk.rows, precision, out);
            },
            "chunk"_a, "precision"_a, "out"_a, "Raises RowError.")
        .def(
            "reference_values",
            [](const Model& self, const Chunk& chunk, Decisions& out) {
                check_pairs(out, self.pairs());
                const nb::gil_scoped_release release;
                self.reference_values(*chunk.rows, out);
            },
            "chunk"_a, "out"_a, "Raises RowError.");
}

using LoadModel = nb::typed<nb::callable, Model()>;

Fallback::Load loader(LoadModel load) {
    return [held = shared_function(std::move(load))] {
        const nb::gil_scoped_acquire acquire;
        return nb::cast<std::shared_ptr<Model>>((*held)());
    };
}

// A chunk's answer, and the lease of the memory that holds its decision values.
struct Answered : Answer {
    Answered(const Predictor& predictor, std::shared_ptr<const Rows> chunk) : worker(predictor.worker()) {
        worker->predictions(std::move(chunk), *this);
    }
    nb::object owner;  // the predictor; cheaper than nb::keep_alive
    const Pool<Worker>::Lease worker;
};

void bind_answer_options(nb::module_& m) {
    nb::class_<Fallback>(m, "Fallback", "The exact model of a certified model.")
        .def(
            "__init__",
            [](Fallback* self, LoadModel load, double tolerance) {
                new (self) Fallback(loader(std::move(load)), tolerance);
            },
            "load"_a, "tolerance"_a,
            "load: called on first need, on any thread. tolerance: allowed radius of a regression value.");
    nb::class_<Predictor>(m, "Predictor", "A model with its options; any threads' calls reuse its memory.")
        .def(
            "__init__",
            [](Predictor* self, std::shared_ptr<Model> model, bool probability, bool values,
               std::shared_ptr<Fallback> exact, std::optional<double> tolerance, bool open_rows) {
                AnswerOptions options;
                options.model = std::move(model);
                options.probability = probability;
                options.values = values;
                options.exact = std::move(exact);
                options.tolerance = tolerance;
                options.open_rows = open_rows;
                const nb::gil_scoped_release release;  // it may read the exact model
                new (self) Predictor(std::move(options));
            },
            "model"_a, "probability"_a = false, "values"_a = false, "exact"_a.none() = nb::none(),
            "tolerance"_a.none() = nb::none(), "open_rows"_a = false,
            "probability: as -b 1. values: append decision values, and radii if the model has them. exact: evaluates "
            "rows that a certified model leaves undecided. tolerance: allowed error of an ordered regression model's "
            "values, which may then stop early. open_rows: report undecided rows.")
        .def_prop_ro("with_radius", [](const Predictor& self) { return self.resolved.with_radius; })
        .def(
            "answer",
            [](nb::handle self, const Chunk& chunk) {
                const Predictor& predictor = nb::cast<const Predictor&>(self);
                Answered* answered = nullptr;
                {
                    const nb::gil_scoped_release release;
                    answered = new Answered(predictor, chunk.rows);
                }
                answered->owner = nb::borrow(self);
                return answered;
            },
            "chunk"_a, nb::sig("def answer(self, chunk: Chunk) -> Answer"),
            "Answer a chunk of at most MOST_VALUES decision values.");
}

void bind_answer(nb::module_& m) {
    m.attr("MOST_VALUES") = most_values;
    nb::class_<Answered>(m, "Answer", "A model's answers for a chunk. Later answers reuse its memory once it is freed.")
        .def_prop_ro(
            "chunk", [](const Answered& self) { return Chunk{self.rows}; }, "the evaluated rows")
        .def_ro("error", &Answered::error,
                "(line, reason) of the first row that cannot be evaluated, which ends the run; or None")
        .def_prop_ro(
            "decisions", [](const Answered& self) -> Decisions& { return self.worker->decisions(); },
            nb::rv_policy::reference_internal, "decision values of the chunk")
        .def_ro("predictions", &Answered::predictions, "predictions of the chunk")
        .def_ro("open_rows", &Answered::open_rows, "rows of the chunk left undecided by the radii")
        .def_ro("reference_rows", &Answered::reference_rows, "number of rows evaluated by the reference sum");
}

void bind_summary(nb::module_& m) {
    m.def("scores", &scores, "header"_a, "score"_a,
          "[accuracy], or [mean squared error, squared correlation]; NaN or infinite as in C.");
    m.def("upper_bound", &upper_bound, "differing"_a, "rows"_a, "confidence"_a,
          "Clopper and Pearson's upper bound (1934) of a share, if `differing` of `rows` random rows differ: "
          "statistical, not a proof. To six digits or more.");
    m.def("score_lines", &score_lines, "header"_a, "score"_a, "svm-predict 3.37's lines after the last row.");
    m.def(
        "scaling_warnings",
        [](const Scaling& scaling, const ScaledEntries& scaled, const std::string& name) {
            return scaling_warnings(scaling, scaled, name);
        },
        "scaling"_a, "scaled"_a, "name"_a, "svm-scale's warnings after all rows. name: of the range file.");
}

}  // namespace

void bind_engine(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const RowError& error) {
            const nb::object type = nb::module_::import_("fastsvm_cli.errors").attr("RowError");
            PyErr_SetObject(type.ptr(), type(error.row, error.what()).ptr());
        }
    });
    bind_precision(m);
    bind_engines(m);
    bind_answer_options(m);
    bind_answer(m);
    bind_summary(m);
}

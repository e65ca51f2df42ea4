// Bindings of engine/: models and answers.

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bind/bind.h"
#include "engine/answers.h"
#include "engine/line_blocks.h"
#include "engine/model.h"
#include "engine/run.h"

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

// Bindings of engine/: runs, with Python's sources and outputs.

namespace {

using OnName = nb::typed<nb::callable, nb::object(std::int64_t, std::string)>;
using GapFacts = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

}  // namespace

Outputs::Write writer(WriteBytes write) {
    return [held = shared_function(std::move(write))](const std::string& text) {
        const nb::gil_scoped_acquire acquire;
        (*held)(bytes_of(text));
    };
}

ByteStream stream_of(ReadInto read_into, Ready ready) {
    const auto read = shared_function(std::move(read_into));
    const auto is_ready = shared_function(std::move(ready));
    return {[read](char* target, std::size_t size) {
                const nb::gil_scoped_acquire acquire;
                const nb::object view =
                    nb::steal(PyMemoryView_FromMemory(target, static_cast<Py_ssize_t>(size), PyBUF_WRITE));
                const std::size_t got = nb::cast<std::size_t>((*read)(view));
                view.attr("release")();  // the memory ends with this call
                return got;
            },
            [is_ready] {
                const nb::gil_scoped_acquire acquire;
                return nb::cast<bool>((*is_ready)());
            }};
}

namespace {

std::vector<Gap> gaps_of(const std::vector<GapFacts>& facts) {
    std::vector<Gap> out;
    for (const auto& [row, lines, bad] : facts) out.push_back({row, lines, bad});
    return out;
}

struct Blocks {
    Blocks(ByteStream stream, Reading reading, Position& position, BadRows* bad_rows, ScaledEntries& scaled)
        : blocks(std::move(stream), std::move(reading), position, bad_rows, scaled) {}
    LineBlocks blocks;
};

void bind_place(nb::module_& m) {
    nb::class_<Position>(
        m, "Position",
        "Position in a data file. offset: decompressed bytes. lines: before the offset; comments: of these, neither "
        "rows nor malformed. fields: values per dense row, -1 before the first, 0 for other text.")
        .def(
            "__init__",
            [](Position* self, std::int64_t offset, std::int64_t lines, std::int64_t fields, std::int64_t comments) {
                new (self) Position{offset, lines, fields, comments};
            },
            "offset"_a = 0, "lines"_a = 0, "fields"_a = -1, "comments"_a = 0)
        .def_rw("offset", &Position::offset)
        .def_rw("lines", &Position::lines)
        .def_rw("fields", &Position::fields)
        .def_rw("comments", &Position::comments);
    nb::class_<ScaledEntries>(m, "ScaledEntries", "Numbers of entries of scaled rows.")
        .def(nb::init<>())
        .def_prop_ro(
            "before", [](const ScaledEntries& self) { return self.counts.before; }, "entries before scaling")
        .def_ro("after", &ScaledEntries::after, "entries after scaling")
        .def_prop_ro(
            "unknown", [](const ScaledEntries& self) { return self.counts.unknown; },
            "entries dropped because the range file does not name their feature")
        .def_prop_ro(
            "counts",
            [](const ScaledEntries& self) {
                return std::vector<std::int64_t>{self.counts.before, self.after, self.counts.unknown,
                                                 self.counts.unknown_index};
            },
            "[before, after, unknown, unknown_index]")
        .def(
            "add",
            [](ScaledEntries& self, std::int64_t before, std::int64_t after, std::int64_t unknown,
               std::int64_t unknown_index) {
                self.counts.add({before, unknown, static_cast<std::int32_t>(unknown_index)});
                self.after += after;
            },
            "before"_a, "after"_a, "unknown"_a, "unknown_index"_a, "Add the `counts` of another reading.");
}

void bind_bad_rows(nb::module_& m) {
    m.attr("MOST_NAMED") = BadRows::most_named;
    nb::class_<BadRows>(m, "BadRows", "Malformed lines, and rows that the model cannot evaluate.")
        .def(
            "__init__",
            [](BadRows* self, bool nan, OnName name) {
                new (self) BadRows(nan, [held = shared_function(std::move(name))](const RowProblem& problem) {
                    const nb::gil_scoped_acquire acquire;
                    (*held)(problem.first, problem.second);
                });
            },
            "nan"_a, "name"_a)
        .def_prop_rw(
            "filler", [](const BadRows& self) { return bytes_of(self.filler); },
            [](BadRows& self, nb::bytes filler) { self.filler.assign(filler.c_str(), filler.size()); },
            "line written for a bad row, or b''; a Run sets it if `nan`")
        .def_ro("count", &BadRows::count, "number of bad rows")
        .def_ro("named", &BadRows::named, "[(line, reason)] of the first MOST_NAMED bad rows")
        .def_prop_ro(
            "gaps",
            [](const BadRows& self) {
                std::vector<GapFacts> out;
                for (const Gap& gap : self.gaps()) out.emplace_back(gap.row, gap.lines, gap.bad);
                return out;
            },
            "the current block's gaps that `fill` has not passed, as in Chunk, with dropped rows")
        .def("restore", &BadRows::restore, "count"_a, "named"_a,
             "Continue an earlier run, and name its bad rows again.")
        .def(
            "begin",
            [](BadRows& self, std::int64_t first_line, const std::vector<GapFacts>& gaps,
               std::vector<RowProblem> errors) { self.begin(first_line, gaps_of(gaps), std::move(errors)); },
            "first_line"_a, "gaps"_a, "errors"_a,
            "Begin a block of text. gaps: as in Chunk. errors: [(line, reason)] of the first malformed lines.")
        .def("drop", &BadRows::drop, "rows"_a,
             "Drop rows that cannot be evaluated: [(row, reason)], increasing, numbered from the first one that `fill` "
             "has not written. Later row numbers omit them.")
        .def("lines", &BadRows::lines, "rows"_a,
             "Line numbers of these rows, which increase and are numbered as in `drop`.")
        .def(
            "fill",
            [](BadRows& self, nb::bytes text, std::int64_t rows) {
                nb::list buffers;
                self.fill(std::string(text.c_str(), text.size()), rows,
                          [&](const std::string& buffer) { buffers.append(bytes_of(buffer)); });
                return buffers;
            },
            "text"_a, "rows"_a, nb::sig("def fill(self, text: bytes, rows: int) -> list[bytes]"),
            "`text`, the lines of the block's next rows, with a filler per bad row, in several buffers.");
}

void bind_blocks(nb::module_& m) {
    m.attr("BLOCK_BYTES") = block_bytes;
    m.attr("LONGEST_LINE") = longest_line;
    m.def("may_delimit", &may_delimit, "text"_a,
          "Whether a text is one ASCII character that is in no number or line end.");
    nb::class_<Blocks>(m, "LineBlocks", "Rows of a file's bytes, in blocks of whole lines.")
        .def(
            "__init__",
            [](Blocks* self, ReadInto read_into, Ready ready, Position& position, BadRows* bad_rows,
               std::shared_ptr<Scaling> scaling, ScaledEntries& scaled, bool labelled, bool dense,
               const std::string& delimiter, std::int32_t first_index, std::size_t size, std::size_t max_line) {
                Reading reading{labelled,    dense,    delimiter.empty() ? ',' : delimiter[0],
                                first_index, max_line, std::move(scaling)};
                new (self) Blocks(stream_of(std::move(read_into), std::move(ready)), std::move(reading), position,
                                  bad_rows, scaled);
                self->blocks.size = size;
            },
            "read_into"_a, "ready"_a, "position"_a, "bad_rows"_a.none(), "scaling"_a.none(), "scaled"_a,
            "labelled"_a = true, "dense"_a = false, "delimiter"_a = ",", "first_index"_a = 1, "size"_a = block_bytes,
            "max_line"_a = longest_line, nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 7>(),
            "read_into: reads at least one byte into a memoryview, and returns their number; 0 at the end. ready: "
            "whether read_into returns at once. size: bytes of a block. scaled: counts scaled rows.")
        .def(
            "next",
            [](Blocks& self) -> nb::object {
                LineBlock block;
                {
                    const nb::gil_scoped_release release;
                    if (!self.blocks.next(block)) return nb::none();
                    self.blocks.parse(block);
                    self.blocks.count_block(block);
                }
                const nb::object chunk = block.rows ? nb::cast(Chunk{block.rows}) : nb::none();
                return nb::make_tuple(chunk, nb::cast(block.error));
            },
            nb::sig("def next(self) -> tuple[Chunk | None, tuple[int, str] | None] | None"),
            "(chunk of the next block's rows or None, (line, reason) of the line that ends the run or None); None at "
            "the end.");
}

void bind_run_counts(nb::module_& m) {
    nb::class_<RunCounts>(
        m, "RunCounts",
        "Counts over the rows of a run; each is an attribute. outside: rows outside the bound of Claesen et al., eq. "
        "(3.11). evaluated: undecided rows by the radii, which the exact model evaluated. reference_rows: rows that "
        "only LIBSVM's order of operations decides. undecided: open rows, with --steps or --open-rows. audited: rows "
        "of an audit's sample; audit_differing: of these, with another label than the exact model's. unknown_labels: "
        "rows whose label the model never predicts; zero_labels: of these, label 0. rows_beyond, rows_with_zero: rows "
        "with features beyond the model's, or with a feature 0. largest_feature: of all rows.")
        .def(nb::init<bool>(), "labelled"_a)
        .def(
            "__getattr__",
            [](RunCounts& self, const std::string& name) {
                nb::object found;
                self.visit([&](const char* each, auto number) {
                    if (name == each) found = nb::cast(number);
                });
                if (!found.is_valid()) throw nb::attribute_error(name.c_str());
                return found;
            },
            nb::sig("def __getattr__(self, name: str, /) -> int"))
        .def(
            "values",
            [](RunCounts& self) {
                nb::dict out;
                self.visit([&](const char* name, auto number) { out[name] = number; });
                return out;
            },
            nb::sig("def values(self) -> dict[str, int | float]"), "All numbers by name, also the sums of `score`.")
        .def(
            "add_values",
            [](RunCounts& self, const nb::dict& values) {
                self.visit([&](const char* name, auto& number) {
                    const auto more = nb::cast<std::decay_t<decltype(number)>>(values[name]);
                    const bool largest = static_cast<const void*>(&number) == &self.features.largest;
                    number = largest ? std::max(number, more) : number + more;
                });
            },
            "values"_a, nb::sig("def add_values(self, values: dict[str, int | float]) -> None"),
            "Add another RunCounts's `values`. An empty RunCounts becomes equal to it, bit for bit. Raises KeyError.")
        .def_prop_ro(
            "score", [](RunCounts& self) { return self.labelled ? &self.score : nullptr; },
            nb::rv_policy::reference_internal, nb::sig("def score(self) -> Score | None"),
            "svm-predict's sums; None for unlabelled data");
}

void bind_runs(nb::module_& m) {
    nb::class_<Run>(m, "Run", "Answers rows and writes their lines, in order. Raises RunError(line, reason).")
        .def(
            "__init__",
            [](Run* self, const Predictor& predictor, RunCounts& run_counts, WriteBytes write) {
                Outputs outputs;
                outputs.lines = writer(std::move(write));
                new (self) Run(predictor, std::move(outputs), run_counts, nullptr);
            },
            "predictor"_a, "run_counts"_a, "write"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("begin", &Run::begin, nb::call_guard<nb::gil_scoped_release>(),
             "Write the line before the first row, if any.")
        .def(
            "answer",
            [](Run& self, const Chunk& chunk) {
                const std::shared_ptr<const Rows> rows = chunk.rows;
                const nb::gil_scoped_release release;
                self.answer(rows);
            },
            "chunk"_a, "Answer rows of a chunk, on all threads.");
}

}  // namespace

void bind_run(nb::module_& m) {
    static PyObject* const type = nb::exception<RunError>(m, "RunError").release().ptr();
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const RunError& error) {
            PyErr_SetObject(type, nb::make_tuple(error.line, error.what()).ptr());
        }
    });
    bind_place(m);
    bind_bad_rows(m);
    bind_blocks(m);
    bind_run_counts(m);
    bind_runs(m);
}

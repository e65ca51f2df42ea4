// Bindings of engine/: models and answers.

#include <algorithm>
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
#include "program/prediction.h"

using namespace nb::literals;
using namespace fastsvm;

Outputs::Write writer(WriteBytes write) {
    if (!write) return nullptr;
    return [write = std::move(write)](const std::string& text) {
        const nb::gil_scoped_acquire acquire;
        write(nb::bytes(text.data(), text.size()));
    };
}

namespace {

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
            "within", [](double tolerance) { return Precision{tolerance, std::nullopt, std::nullopt}; }, "tolerance"_a,
            "Values within `tolerance` of svm-predict's; regression models only.")
        .def_static(
            "values", [] { return Precision{std::nullopt, std::vector<Precision::Side>(), std::nullopt}; },
            "Values up to rounding, and labels.")
        .def_ro("tolerance", &Precision::tolerance, "argument of `within`, or None");
}

void bind_engines(nb::module_& m) {
    nb::class_<Model>(m, "Model", "A model that the core evaluates; immutable.")
        .def("decisions", &Model::decisions, "precision"_a, "with_radius"_a)
        .def(
            "decision_values",
            [](const Model& self, const Rows& chunk, const Precision& precision, Decisions& out) {
                check_pairs(out, self.pairs(), self.decisions(precision, out.with_radius).labels_alone);
                self.decision_values(chunk, precision, out);
            },
            "chunk"_a, "precision"_a, "out"_a, WithoutGil(), "Raises RowError.")
        .def(
            "reference_values",
            [](const Model& self, const Rows& chunk, Decisions& out) {
                check_pairs(out, self.pairs());
                self.reference_values(chunk, out);
            },
            "chunk"_a, "out"_a, WithoutGil(), "Raises RowError.");
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
        .def(nb::init<Fallback::Load, double>(), "load"_a, "tolerance"_a,
             "load: called on first need, on any thread. tolerance: allowed radius of a regression value.");
    nb::class_<Predictor> predictor(m, "Predictor", "A model with its options; any threads' calls reuse its memory.");
    const auto construct = [](Predictor* self, AnswerOptions options) {
        const nb::gil_scoped_release release;  // it may read the exact model
        new (self) Predictor(std::move(options));
    };
    bind_fields<AnswerOptions>(
        predictor, construct,
        "probability: as -b 1. values: append decision values, and radii if the model has them. exact: evaluates "
        "rows that a certified model leaves undecided. tolerance: allowed error of an ordered regression model's "
        "values, which may then stop early. open_rows: report undecided rows.",
        field<In::argument>("model", &AnswerOptions::model),
        field<In::argument>("probability", &AnswerOptions::probability, false),
        field<In::argument>("values", &AnswerOptions::values, false),
        field<In::argument>("exact", &AnswerOptions::exact, nb::none()),
        field<In::argument>("tolerance", &AnswerOptions::tolerance, nb::none()),
        field<In::argument>("open_rows", &AnswerOptions::open_rows, false));
    predictor.def_prop_ro("with_radius", [](const Predictor& self) { return self.resolved.with_radius; })
        .def(
            "answer",
            [](nb::handle self, std::shared_ptr<const Rows> chunk) {
                const Predictor& predictor = nb::cast<const Predictor&>(self);
                Answered* answered = nullptr;
                {
                    const nb::gil_scoped_release release;
                    answered = new Answered(predictor, std::move(chunk));
                }
                answered->owner = nb::borrow(self);
                return answered;
            },
            "chunk"_a, nb::sig("def answer(self, chunk: Chunk) -> Answer"),
            "Answer a chunk of at most MOST_VALUES decision values.")
        .def(
            "write",
            [](const Predictor& self, nb::typed<nb::iterable, Rows> chunks, WriteBytes write, const std::string& path) {
                auto run_counts = std::make_unique<RunCounts>();
                Outputs outputs;
                outputs.lines = writer(std::move(write));
                Run run(self, std::move(outputs), *run_counts, nullptr);
                run.begin();
                for (nb::handle chunk : chunks) {
                    const auto rows = nb::cast<std::shared_ptr<const Rows>>(chunk);
                    const nb::gil_scoped_release release;
                    try {
                        run.answer(rows);
                    } catch (const RunError& error) {
                        throw LineError(LineError::data, path, error.line, error.what());
                    }
                }
                return run_counts;
            },
            "chunks"_a, "write"_a, "path"_a,
            "Write the line of every row, in order, on all threads; return the counts. path: in messages. Raises "
            "DataFormatError for a row that cannot be evaluated.");
}

void bind_answer(nb::module_& m) {
    m.attr("MOST_VALUES") = most_values;
    nb::class_<Answered>(m, "Answer", "A model's answers for a chunk. Later answers reuse its memory once it is freed.")
        .def_ro("chunk", &Answered::rows, "the evaluated rows")
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
    m.def("scaling_warnings", &scaling_warnings, "scaling"_a, "scaled"_a, "name"_a,
          "svm-scale's warnings after all rows. name: of the range file.");
}

// Its bad rows are named as soon as they are read.
struct Blocks : LineBlocks {
    BadRows* bad_rows;
};

void bind_place(nb::module_& m) {
    nb::class_<Position>(
        m, "Position",
        "Position in a data file. offset: decompressed bytes. lines: before the offset; comments: of these, neither "
        "rows nor malformed. fields: values per dense row, -1 before the first, 0 for other text.")
        .def(nb::init<>())
        .def_rw("offset", &Position::offset)
        .def_rw("lines", &Position::lines)
        .def_rw("fields", &Position::fields)
        .def_rw("comments", &Position::comments);
    nb::class_<ScaledEntries>(m, "ScaledEntries", "Numbers of entries of scaled rows.")
        .def(nb::init<>())
        .def_prop_ro(
            "counts",
            [](const ScaledEntries& self) {
                return std::vector<std::int64_t>{self.counts.before, self.after, self.counts.unknown,
                                                 self.counts.unknown_index};
            },
            "[entries before scaling, after it, dropped because the range file does not name their feature, least "
            "feature of these or -1]")
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
        .def(nb::init<bool, BadRows::Name>(), "nan"_a, "name"_a)
        .def_ro("count", &BadRows::count, "number of bad rows")
        .def_ro("named", &BadRows::named, "[(line, reason)] of the first MOST_NAMED bad rows")
        .def("restore", &BadRows::restore, "count"_a, "named"_a,
             "Continue an earlier run, and name its bad rows again.");
}

void bind_blocks(nb::module_& m) {
    m.attr("BLOCK_BYTES") = block_bytes;
    m.attr("LONGEST_LINE") = longest_line;
    m.def("may_delimit", &may_delimit, "text"_a,
          "Whether a text is one ASCII character that is in no number or line end.");
    nb::class_<Blocks>(m, "LineBlocks", "Rows of a file's bytes, in blocks of whole lines.")
        .def(
            "__init__",
            [](Blocks* self, ByteStream stream, Position& position, BadRows* bad_rows, std::shared_ptr<Scaling> scaling,
               ScaledEntries& scaled, bool labelled, bool dense, const std::string& delimiter, std::int32_t first_index,
               std::size_t size, std::size_t max_line) {
                Reading reading{labelled,    dense,    delimiter.empty() ? ',' : delimiter[0],
                                first_index, max_line, std::move(scaling)};
                new (self) Blocks{{std::move(stream), std::move(reading), position, bad_rows, scaled}, bad_rows};
                self->size = size;
            },
            "stream"_a, "position"_a, "bad_rows"_a.none(), "scaling"_a.none(), "scaled"_a, "labelled"_a = true,
            "dense"_a = false, "delimiter"_a = ",", "first_index"_a = 1, "size"_a = block_bytes,
            "max_line"_a = longest_line, nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 6>(),
            "stream: a Content. size: bytes of a block. scaled: counts scaled rows.")
        .def(
            "next",
            [](Blocks& self) {
                LineBlock block;
                std::optional<std::tuple<std::shared_ptr<const Rows>, std::optional<RowProblem>>> out;
                if (!self.next(block)) return out;
                self.parse(block);
                self.count_block(block);
                if (self.bad_rows && block.rows) self.bad_rows->fill("", block.rows->rows, [](const std::string&) {});
                out.emplace(std::move(block.rows), std::move(block.error));
                return out;
            },
            WithoutGil(), nb::sig("def next(self) -> tuple[Chunk | None, tuple[int, str] | None] | None"),
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

}  // namespace

void bind_engine(nb::module_& m) {
    bind_precision(m);
    bind_engines(m);
    bind_answer_options(m);
    bind_answer(m);
    bind_summary(m);
    bind_place(m);
    bind_bad_rows(m);
    bind_blocks(m);
    bind_run_counts(m);
}

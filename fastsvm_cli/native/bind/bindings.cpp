// The native core's module.
#include "bind/bind.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "answers/decisions.h"
#include "answers/predictions.h"
#include "exact/exact.h"
#include "models/blocks.h"
#include "models/border.h"
#include "models/degree_norms.h"
#include "models/density.h"
#include "models/expansion.h"
#include "models/geometry.h"
#include "models/maclaurin.h"
#include "models/triangle.h"
#include "simd/loops.h"
#include "simd/parallel.h"
#include "text/numbers.h"
#include "text/parse.h"
#include "text/rows.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Singles = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// `count` numbers from text[offset:], blanks and line ends between them, the last one followed by a line end. Returns
// them as a buffer and the offset after that line end; raises ValueError(what was found, the offset where).
nb::tuple parse_numbers(nb::handle text, std::int64_t offset, std::int64_t count, bool single) {
    const Bytes bytes(text);
    const auto fail = [](const std::string& found, std::int64_t at) {
        PyErr_SetObject(PyExc_ValueError, nb::make_tuple(found, at).ptr());
        throw nb::python_error();
    };
    const std::int64_t size = static_cast<std::int64_t>(bytes.size());
    // A number takes two bytes at least: a count that the text cannot hold must not be allocated.
    if (offset < 0 || offset > size || size == 0 || bytes.data()[size - 1] != '\n' || count < 0 ||
        count > (size - offset + 1) / 2)
        fail("the end of the file found", size);
    auto* const numbers = new std::vector<double>(static_cast<std::size_t>(count));
    nb::capsule owner(numbers, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    const char* p = bytes.data() + offset;
    const char* const end = bytes.data() + size;
    const auto skip = [&](bool lines) {
        while (p < end) {
            p = skip_blanks(p);
            if (!lines || *p != '\n') break;
            ++p;
        }
    };
    const auto fail_here = [&] {
        const char* stop = p;
        while (stop < end && !ends_word(stop) && stop - p < 40) ++stop;
        std::string found = p >= end    ? "the end of the file"
                            : stop == p ? "the end of the line"
                                        : "'" + std::string(p, stop) + "'";
        for (char& c : found)
            if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
        fail(found + " found", p - bytes.data());
    };
    for (double& number : *numbers) {
        skip(true);
        NumberStatus status = NumberStatus::not_a_number;
        const char* const next = p < end ? read_double(p, &number, &status) : p;
        const bool too_large = single && std::fabs(number) > std::numeric_limits<float>::max();
        if (status != NumberStatus::ok || too_large || !ends_word(next)) fail_here();
        p = next;
    }
    skip(false);
    if (p >= end || *p != '\n') fail_here();
    ++p;
    return nb::make_tuple(view<double>(numbers->data(), {numbers->size()}, owner),
                          static_cast<std::int64_t>(p - bytes.data()));
}

Certificate read_certificate(const Maclaurin& model, nb::handle certificate) {
    const auto numbers = [&](const char* name) { return nb::cast<std::vector<double>>(certificate.attr(name)); };
    Certificate c{numbers("truncation"), numbers("error"), nb::cast<double>(certificate.attr("weight")),
                  nb::cast<double>(certificate.attr("count"))};
    if (c.truncation.size() > 20 || static_cast<int>(c.error.size()) != model.degree() + 1)
        throw nb::value_error("wrong size of a certificate");
    return c;
}

KernelType kernel_type(int number) {
    if (number < 0 || number >= static_cast<int>(kernel_names.size())) throw nb::value_error("no such kernel");
    return static_cast<KernelType>(number);
}

// Decisions are made for a number of pairs, which a model fills; or for labels alone, which some can do without all
// values.
void check_pairs(const Decisions& out, std::int64_t pairs, bool labels_alone = false) {
    if (out.pairs != pairs) throw nb::value_error("decisions for another number of pairs");
    if (out.labels_alone && !labels_alone) throw nb::value_error("labels alone have no values");
}

void check_rows(const Chunk& chunk, const std::vector<std::int64_t>& rows) {
    for (std::int64_t row : rows)
        if (row < 0 || row >= chunk.rows->rows) throw nb::index_error("row out of range");
}

// A buffer that Python owns.
nb::object owned(std::vector<double> numbers) {
    auto* const kept = new std::vector<double>(std::move(numbers));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return view<double>(kept->data(), {kept->size()}, owner);
}

template <class Values> nb::bytes format_numbers(const Values& values) {
    std::string text;
    text.reserve(values.size() * 14);
    char buffer[number_text_max];
    for (std::size_t i = 0; i < values.size(); ++i) {
        const char* const end = write_shortest(buffer, values.data()[i]);
        if (i) text += ' ';
        text.append(buffer, static_cast<std::size_t>(end - buffer));
    }
    text += '\n';
    return nb::bytes(text.data(), text.size());
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The native core: parsing, scoring and formatting.";
    nb::set_leak_warnings(false);

    bind_text(m);

    nb::class_<Decisions>(m, "Decisions", "Decision values of a chunk; reused from chunk to chunk.")
        .def(nb::init<std::int64_t, bool, bool>(), "pairs"_a, "with_radius"_a = false, "labels_alone"_a = false)
        .def_ro("rows", &Decisions::rows)
        .def_ro("pairs", &Decisions::pairs)
        .def_ro("outside", &Decisions::outside, "rows outside the bound of eq. (3.11)")
        .def_prop_ro(
            "outside_rows",
            [](const Decisions& self) {
                std::vector<std::int64_t> rows;
                for (std::size_t r = 0; r < self.is_outside.size(); ++r)
                    if (self.is_outside[r]) rows.push_back(static_cast<std::int64_t>(r));
                return rows;
            },
            "which they are, increasing")
        .def_rw("reference_rows", &Decisions::reference_rows, "rows evaluated by the reference sum")
        .def_prop_ro(
            "kernel_evaluations",
            [](const Decisions& d) {
                return std::accumulate(d.evaluations.begin(), d.evaluations.end(), std::int64_t{0});
            },
            "of all rows, by a model that stops early")
        .def(
            "count",
            [](Decisions& d, std::int64_t evaluations) {
                for (std::int64_t& own : d.evaluations) own += evaluations;
            },
            "evaluations"_a, "Every row took so many kernel evaluations more.")
        .def("resize", &Decisions::resize, "rows"_a)
        .def(
            "put",
            [](Decisions& self, const std::vector<std::int64_t>& rows, const Decisions& from) {
                if (self.labels_alone || from.labels_alone) throw nb::value_error("labels alone have no values");
                if (from.pairs != self.pairs || from.rows != static_cast<std::int64_t>(rows.size()))
                    throw nb::value_error("other rows or pairs");
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    if (rows[i] < 0 || rows[i] >= self.rows) throw nb::index_error("row out of range");
                    const std::int64_t source = static_cast<std::int64_t>(i) * self.pairs,
                                       target = rows[i] * self.pairs;
                    std::copy_n(from.value.data() + source, self.pairs, self.value.data() + target);
                    self.evaluations[rows[i]] += from.evaluations[i];
                    if (!self.with_radius) continue;
                    if (from.with_radius)
                        std::copy_n(from.radius.data() + source, self.pairs, self.radius.data() + target);
                    else
                        std::fill_n(self.radius.data() + target, self.pairs, 0.0);
                }
                self.reference_rows += from.reference_rows;
            },
            "rows"_a, "from_"_a,
            "Replace the values (and radii; 0 where `from_` has none) of these rows, and add what they cost.")
        .def(
            "charge",
            [](Decisions& self, const std::vector<std::int64_t>& rows, const Decisions& from) {
                if (from.rows != static_cast<std::int64_t>(rows.size())) throw nb::value_error("other rows");
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    if (rows[i] < 0 || rows[i] >= self.rows) throw nb::index_error("row out of range");
                    self.evaluations[rows[i]] += from.evaluations[i];
                }
            },
            "rows"_a, "from_"_a, "Add the kernel evaluations of `from_` to those of these rows, and nothing else.")
        .def(
            "widen",
            [](Decisions& self, const Chunk& chunk, double gamma, std::vector<double> radius,
               std::vector<double> weight, std::vector<double> rho, double count, double longest_vector) {
                const std::size_t pairs = static_cast<std::size_t>(self.pairs);
                if (!self.with_radius || chunk.rows->rows != self.rows || radius.size() != pairs ||
                    weight.size() != pairs || rho.size() != pairs)
                    throw nb::value_error("other rows or pairs");
                widen(*chunk.rows, {gamma, std::move(radius), std::move(weight), std::move(rho), count, longest_vector},
                      self);
            },
            "chunk"_a, "gamma"_a, "radius"_a, "weight"_a, "rho"_a, "count"_a, "longest_vector"_a,
            "Add to the radii of RBF models' values: radius, and svm-predict's rounding on an exact model.")
        .def_prop_ro(
            "evaluations",
            [](nb::handle self) {
                const Decisions& d = nb::cast<const Decisions&>(self);
                return view(d.evaluations.data(), {d.evaluations.size()}, self);
            },
            "(rows) int64: kernel evaluations, as often as they were done, by a model that stops early; valid until "
            "the next resize")
        .def_prop_ro(
            "value",
            [](nb::handle self) {
                Decisions& d = nb::cast<Decisions&>(self);
                static double none;
                return nb::cast(nb::ndarray<nb::memview, double>(d.value.empty() ? &none : d.value.data(),
                                                                 {d.labels_alone ? 0 : static_cast<std::size_t>(d.rows),
                                                                  static_cast<std::size_t>(d.pairs)},
                                                                 self),
                                nb::rv_policy::reference);
            },
            "(rows, pairs) float64, writable; valid until the next resize")
        .def_prop_ro(
            "radius",
            [](nb::handle self) -> nb::object {
                Decisions& d = nb::cast<Decisions&>(self);
                if (!d.with_radius) return nb::none();
                static double none;
                return nb::cast(nb::ndarray<nb::memview, double>(
                                    d.radius.empty() ? &none : d.radius.data(),
                                    {static_cast<std::size_t>(d.rows), static_cast<std::size_t>(d.pairs)}, self),
                                nb::rv_policy::reference);
            },
            "(rows, pairs) float64, or None: |value - svm-predict's| is at most this");

    nb::class_<Task>(m, "Task",
                     "What turns decision values into predictions: svm_type, labels, probability parameters.")
        .def(
            "__init__",
            [](Task* task, int type, std::vector<int> labels, std::vector<double> prob_a, std::vector<double> prob_b,
               std::vector<double> marks) {
                new (task) Task{static_cast<SvmType>(type), std::move(labels), std::move(prob_a), std::move(prob_b),
                                std::move(marks)};
            },
            "svm_type"_a, "labels"_a, "prob_a"_a, "prob_b"_a, "density_marks"_a);

    nb::class_<Predictions>(m, "Predictions")
        .def(nb::init<>())
        .def_ro("rows", &Predictions::rows)
        .def(
            "put",
            [](Predictions& self, const std::vector<std::int64_t>& rows, const Predictions& from) {
                if (self.columns || from.columns || from.rows != static_cast<std::int64_t>(rows.size()))
                    throw nb::value_error("other rows, or probabilities");
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    if (rows[i] < 0 || rows[i] >= self.rows) throw nb::index_error("row out of range");
                    self.label[static_cast<std::size_t>(rows[i])] = from.label[i];
                }
            },
            "rows"_a, "from_"_a, "Replace the labels of these rows.")
        .def_prop_ro("label", [](nb::handle self) {
            const Predictions& p = nb::cast<const Predictions&>(self);
            return view(p.label.data(), {p.label.size()}, self);
        });

    nb::class_<Score>(m, "Score", "svm-predict's running sums.")
        .def(nb::init<>())
        .def(
            "add", [](Score& s, const Chunk& c, const Predictions& p) { s.add(*c.rows, p); },
            nb::call_guard<nb::gil_scoped_release>())
        .def_rw("correct", &Score::correct)
        .def_rw("total", &Score::total)
        .def_rw("error", &Score::error)
        .def_rw("sump", &Score::sump)
        .def_rw("sumt", &Score::sumt)
        .def_rw("sumpp", &Score::sumpp)
        .def_rw("sumtt", &Score::sumtt)
        .def_rw("sumpt", &Score::sumpt);

    nb::class_<Maclaurin>(m, "Maclaurin", "A compiled model's expansions.")
        .def(nb::init<std::vector<std::int32_t>, bool, double, int, std::vector<double>>(), "features"_a, "gaussian"_a,
             "gamma"_a, "degree"_a, "rho"_a)
        .def(
            "add_center",
            [](Maclaurin& self, const Numbers& center, double largest_norm) {
                if (static_cast<std::int64_t>(center.size()) != self.dimension())
                    throw nb::value_error("a center has one number per feature");
                self.add_center(center.data(), largest_norm);
            },
            "center"_a, "largest_norm"_a)
        .def(
            "add_expansion",
            [](Maclaurin& self, std::int64_t pair, std::int64_t center, const Numbers& coefficients, bool single,
               nb::object certificate) {
                if (static_cast<std::int64_t>(coefficients.size()) != self.coefficients())
                    throw nb::value_error("wrong number of coefficients");
                if (certificate.is_none())
                    return self.add_expansion(pair, center, coefficients.data(), single, nullptr);
                const Certificate c = read_certificate(self, certificate);
                self.add_expansion(pair, center, coefficients.data(), single, &c);
            },
            "pair"_a, "center"_a, "coefficients"_a, "single"_a, "certificate"_a.none() = nb::none())
        .def(
            "add_compressed",
            [](Maclaurin& self, std::int64_t pair, std::int64_t center, const Numbers& numbers, std::int64_t rank,
               bool single, nb::object certificate) {
                // c, v, lambda (rank), q (rank, d)
                const std::int64_t d = self.dimension();
                if (self.degree() != 2 || rank < 1 ||
                    static_cast<std::int64_t>(numbers.size()) != 1 + d + rank * (1 + d))
                    throw nb::value_error("wrong number of coefficients");
                const double* const p = numbers.data();
                if (certificate.is_none())
                    return self.add_compressed(pair, center, p, rank, p + 1 + d, p + 1 + d + rank, single, nullptr);
                const Certificate c = read_certificate(self, certificate);
                self.add_compressed(pair, center, p, rank, p + 1 + d, p + 1 + d + rank, single, &c);
            },
            "pair"_a, "center"_a, "numbers"_a, "rank"_a, "single"_a, "certificate"_a.none() = nb::none())
        .def(
            "set_rounding",
            [](Maclaurin& self, int kernel, double gamma, double coef0, int degree, double longest_vector) {
                self.set_rounding({kernel_type(kernel), gamma, coef0, degree}, longest_vector);
            },
            "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "longest_vector"_a,
            "Of the exact model; a linear kernel is a polynomial one.")
        .def(
            "decision_values",
            [](const Maclaurin& self, const Chunk& chunk, Decisions& out) {
                check_pairs(out, self.pairs());
                if (out.with_radius && !self.certified())
                    throw nb::value_error("radii asked of a model without certificates");
                const nb::gil_scoped_release release;
                self.decision_values(*chunk.rows, out);
            },
            "chunk"_a, "out"_a);

    nb::class_<SvmModel>(m, "SvmModel", "The numbers of an exact model.")
        .def(
            "__init__",
            [](SvmModel* self, int kernel, double gamma, double coef0, int degree, bool regression,
               std::vector<std::int64_t> nr_sv, std::vector<double> rho, const Chunk& vectors) {
                if (kernel < 0 || kernel >= static_cast<int>(kernel_names.size()))
                    throw nb::value_error("no such kernel");
                new (self) SvmModel{{kernel_type(kernel), gamma, coef0, degree},
                                    regression,
                                    std::move(nr_sv),
                                    std::move(rho),
                                    vectors.rows};
            },
            "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "regression"_a, "nr_sv"_a, "rho"_a, "vectors"_a)
        .def(
            "kernel_row",
            [](const SvmModel& self, const Chunk& x, std::int64_t row, const Chunk& z) {
                if (row < 0 || row >= x.rows->rows) throw nb::index_error("row out of range");
                const Rows& others = *z.rows;
                std::vector<double> values(static_cast<std::size_t>(others.rows));
                const nb::gil_scoped_release release;
                for (std::int64_t i = 0; i < others.rows; ++i)
                    values[i] = reference_kernel(self.kernel, *x.rows, row, others, i);
                return values;
            },
            "x"_a, "row"_a, "z"_a, "K of one row of x with every row of z, as LIBSVM computes it.");

    nb::class_<Geometry>(m, "Geometry", "An ordered model's points: intervals from a few kernel values.")
        .def(
            "__init__",
            [](Geometry* self, const SvmModel& model, const Chunk& points, const Numbers& b,
               std::vector<double> squared_norm, std::vector<double> b_error) {
                const std::size_t pairs = static_cast<std::size_t>(model.pairs());
                if (b.size() != static_cast<std::size_t>(points.rows->rows) * pairs || squared_norm.size() != pairs ||
                    b_error.size() != pairs)
                    throw nb::value_error("wrong number of values");
                new (self) Geometry(model, points.rows, std::vector<double>(b.data(), b.data() + b.size()),
                                    std::move(squared_norm), std::move(b_error));
            },
            "model"_a, "points"_a, "b"_a, "squared_norm"_a, "b_error"_a)
        .def(
            "decision_values",
            [](const Geometry& self, const Chunk& chunk, const Task& task, double tolerance, std::int64_t steps,
               Decisions& out) {
                check_pairs(out, self.pairs());
                const nb::gil_scoped_release release;
                return self.decision_values(*chunk.rows, task, tolerance, steps, out);
            },
            "chunk"_a, "task"_a, "tolerance"_a, "steps"_a, "out"_a, "Returns the rows that are not settled.");

    nb::class_<Triangle>(m, "Triangle", "An ordered model's lists of support vectors by distance.")
        .def(
            "__init__",
            [](Triangle* self, const SvmModel& model, std::vector<std::int64_t> pivots) {
                for (std::int64_t pivot : pivots)
                    if (pivot < 0 || pivot >= model.total_sv()) throw nb::index_error("pivot out of range");
                new (self) Triangle(model, std::move(pivots));
            },
            "model"_a, "pivots"_a)
        .def(
            "decision_values",
            [](const Triangle& self, const Chunk& chunk, const Task& task, double tolerance, Decisions& out) {
                check_pairs(out, self.pairs());
                const nb::gil_scoped_release release;
                return self.decision_values(*chunk.rows, task, tolerance, out);
            },
            "chunk"_a, "task"_a, "tolerance"_a, "out"_a, "Returns the rows that are not settled.");

    nb::class_<Blocks>(m, "Blocks", "An ordered model's blocks of neighbouring support vectors.")
        .def(
            "__init__",
            [](Blocks* self, const SvmModel& model, const std::vector<std::int64_t>& order) {
                // A permutation that keeps every class where it is.
                std::vector<char> seen(order.size(), 0);
                std::int64_t first = 0, at = 0;
                bool sound = static_cast<std::int64_t>(order.size()) == model.total_sv();
                for (std::size_t c = 0; sound && c < model.nr_sv.size(); first += model.nr_sv[c++])
                    for (std::int64_t i = 0; sound && i < model.nr_sv[c]; ++i, ++at) {
                        sound = order[at] >= first && order[at] < first + model.nr_sv[c] && !seen[order[at]];
                        if (sound) seen[order[at]] = 1;
                    }
                if (!sound) throw nb::value_error("not an order of the support vectors, class by class");
                const nb::gil_scoped_release release;
                new (self) Blocks(model, order);
            },
            "model"_a, "order"_a)
        .def(
            "decision_values",
            [](const Blocks& self, const Chunk& chunk, const Task& task, double tolerance, Decisions& out) {
                check_pairs(out, self.pairs());
                const nb::gil_scoped_release release;
                return self.decision_values(*chunk.rows, task, tolerance, out);
            },
            "chunk"_a, "task"_a, "tolerance"_a, "out"_a, "Returns the rows that are not settled.");

    nb::class_<Border>(m, "Border", "Border samples with their normals.")
        .def(nb::init<std::vector<std::int32_t>, int>(), "features"_a, "local"_a)
        .def(
            "add_pair",
            [](Border& self, double level, std::int64_t count, const Numbers& rows) {
                if (count < 0 || static_cast<std::int64_t>(rows.size()) != 2 * count * self.dimension())
                    throw nb::value_error("wrong number of values");
                self.add_pair(level, count, rows.data());
            },
            "level"_a, "count"_a, "rows"_a, "rows: (count, 2, d), flat: points and normals.")
        .def(
            "decision_values",
            [](const Border& self, const Chunk& chunk, Decisions& out) {
                check_pairs(out, self.pairs());
                const nb::gil_scoped_release release;
                self.decision_values(*chunk.rows, out);
            },
            "chunk"_a, "out"_a);

    nb::class_<Density>(m, "Density", "Kernel density estimates of variable bandwidth.")
        .def(
            "__init__",
            [](Density* self, std::vector<std::int64_t> nr_sv, double weight, const Chunk& rows) {
                std::int64_t total = 0;
                bool sound = nr_sv.size() > 1 && weight > 0;
                for (std::size_t i = 0; i < nr_sv.size(); total += nr_sv[i++])
                    for (std::size_t j = 0; j < nr_sv.size(); ++j)
                        sound = sound && nr_sv[i] > 0 && (i == j || weight < static_cast<double>(nr_sv[i] + nr_sv[j]));
                if (!sound || total != rows.rows->rows)
                    throw nb::value_error("wrong numbers of rows, or a weight beyond them");
                const nb::gil_scoped_release release;
                new (self) Density(std::move(nr_sv), weight, *rows.rows);
            },
            "nr_sv"_a, "weight"_a, "rows"_a)
        .def(
            "decision_values",
            [](const Density& self, const Chunk& chunk, Decisions& out) {
                check_pairs(out, self.pairs());
                const nb::gil_scoped_release release;
                self.decision_values(*chunk.rows, out);
            },
            "chunk"_a, "out"_a);

    nb::class_<Exact>(m, "Exact", "An exact LIBSVM model's numbers, ready for evaluation.")
        .def(
            "__init__",
            [](Exact* self, const SvmModel& model) {
                const nb::gil_scoped_release release;
                new (self) Exact(model);
            },
            "model"_a)
        .def(
            "decision_values",
            [](const Exact& self, const Chunk& chunk, bool precise, const std::vector<Exact::Threshold>& thresholds,
               Decisions& out) {
                check_pairs(out, self.model().pairs(), self.model().classes() > 1);
                const nb::gil_scoped_release release;
                const std::int64_t row = self.without_serials(*chunk.rows);
                if (row < 0) self.decision_values(*chunk.rows, precise, thresholds, out);
                return row;
            },
            "chunk"_a, "precise"_a, "thresholds"_a, "out"_a,
            "Returns the first precomputed row that lacks serials, or -1.")
        .def(
            "fast_values",
            [](const Exact& self, const Chunk& chunk, Decisions& out) {
                check_pairs(out, self.model().pairs());
                if (self.model().kernel.type == KernelType::precomputed)
                    throw nb::value_error("a precomputed kernel has no other evaluation");
                const nb::gil_scoped_release release;
                self.fast_values(*chunk.rows, out);
            },
            "chunk"_a, "out"_a, "Values, and radii of their rounding; no reference sum.")
        .def(
            "reference_sums",
            [](const Exact& self, const Chunk& chunk, Decisions& out) {
                check_pairs(out, self.model().pairs());
                const nb::gil_scoped_release release;
                const std::int64_t row = self.without_serials(*chunk.rows);
                if (row >= 0) return row;
                out.resize(chunk.rows->rows);
                std::fill(out.radius.begin(), out.radius.end(), 0.0);
                const std::int64_t grain =
                    std::clamp<std::int64_t>((out.rows + get_threads() - 1) / get_threads(), 1, wide_group);
                parallel_for(out.rows, grain, [&](std::int64_t first, std::int64_t last) {
                    std::vector<std::int64_t> which(static_cast<std::size_t>(last - first));
                    std::iota(which.begin(), which.end(), first);
                    reference_sums(self.model(), *chunk.rows, which.data(), last - first,
                                   out.value.data() + first * out.pairs);
                });
                return row;
            },
            "chunk"_a, "out"_a,
            "Decision values in LIBSVM's own order of operations. Returns the first precomputed row that lacks "
            "serials, or -1.");

    m.attr("KERNELS") = nb::tuple(nb::cast(std::vector<std::string>(kernel_names.begin(), kernel_names.end())));
    m.def(
        "used_indices", [](const Chunk& vectors) { return used_indices(*vectors.rows); }, "vectors"_a,
        "The LIBSVM indices that occur, increasing.");
    m.def(
        "expand",
        [](const Chunk& vectors, const std::vector<std::int32_t>& features, const std::vector<std::int64_t>& rows,
           const std::vector<double>& a, const Numbers& center, bool gaussian, double gamma,
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
        "The packed tensors of an expansion of these support vectors about a center.");
    m.def(
        "largest_squared_distance",
        [](const Chunk& vectors, const std::vector<std::int32_t>& features, const std::vector<std::int64_t>& rows,
           const Numbers& center) {
            check_rows(vectors, rows);
            if (center.size() != features.size()) throw nb::value_error("wrong number of values");
            const nb::gil_scoped_release release;
            const Features columns(features);
            return largest_squared_distance({*vectors.rows, columns, rows, center.data()});
        },
        "vectors"_a, "features"_a, "rows"_a, "center"_a);
    m.def(
        "column_ranges",
        [](const Chunk& vectors, const std::vector<std::int32_t>& features, const std::vector<std::int64_t>& rows) {
            check_rows(vectors, rows);
            const Features columns(features);
            std::vector<double> mean(features.size()), low(mean), high(mean);
            column_ranges({*vectors.rows, columns, rows, nullptr}, mean.data(), low.data(), high.data());
            return nb::make_tuple(mean, low, high);
        },
        "vectors"_a, "features"_a, "rows"_a, "Mean, least and largest value per feature.");
    m.def(
        "stored",
        [](const Numbers& numbers, bool single) {
            std::vector<double> out(numbers.data(), numbers.data() + numbers.size());
            bool finite = true;
            for (double& x : out) {
                if (single) x = static_cast<double>(static_cast<float>(x));
                finite = finite && std::isfinite(x);
            }
            return nb::make_tuple(owned(std::move(out)), finite);
        },
        "numbers"_a, "single"_a, "(the numbers in the precision they are stored in, whether all are finite)");
    m.def(
        "degree_norms",
        [](const Matrix& x, const Numbers& a, double gamma, int from, int to, nb::object progress) {
            if (x.shape(0) != a.size() || from < 1 || to < from || to > 20)
                throw nb::value_error("wrong shape or degrees");
            const nb::gil_scoped_release release;
            return degree_norms(static_cast<std::int64_t>(x.shape(0)), static_cast<std::int64_t>(x.shape(1)), x.data(),
                                a.data(), gamma, from, to, [&](double share) {
                                    const nb::gil_scoped_acquire acquire;
                                    if (PyErr_CheckSignals() != 0) throw nb::python_error();
                                    if (!progress.is_none()) progress(share);
                                });
        },
        "x"_a, "a"_a, "gamma"_a, "from_degree"_a, "to_degree"_a, "progress"_a.none() = nb::none(),
        "Squared degree norms W_from^2 .. W_to^2 and W_{>to}^2 of support vectors x (n, d) about a center with "
        "coefficients a (n).");
    m.def("parse_numbers", &parse_numbers, "text"_a, "offset"_a, "count"_a, "single"_a = false,
          "Numbers between blanks, the last one followed by a line end; single: of single precision. Returns (numbers, "
          "offset after them).");
    m.def("format_numbers", &format_numbers<Numbers>, "values"_a, "One line of shortest texts.");
    m.def("format_numbers", &format_numbers<Singles>, "values"_a);
    m.def(
        "predict",
        [](const Task& task, const Decisions& decisions, bool probability, Predictions& out) {
            if (decisions.labels_alone && probability) throw nb::value_error("labels alone have no probabilities");
            predict(task, decisions, probability, out);
        },
        "task"_a, "decisions"_a, "probability"_a, "out"_a, nb::call_guard<nb::gil_scoped_release>());
    m.def(
        "unsettled",
        [](const Task& task, const Decisions& decisions, bool probability, double tolerance) {
            if (!decisions.with_radius) throw nb::value_error("decisions without radii settle nothing");
            return unsettled(task, decisions, probability, tolerance);
        },
        "task"_a, "decisions"_a, "probability"_a = false, "tolerance"_a = 0.0,
        "Rows whose answer the radii leave open.");
    m.def(
        "format_lines",
        [](const Task& task, const Predictions& predictions, const Decisions* values, bool odds,
           const Decisions* evaluations) {
            if (values && values->labels_alone) throw nb::value_error("labels alone have no values");
            if (evaluations && evaluations->rows != predictions.rows) throw nb::value_error("other rows");
            std::string text;
            {
                const nb::gil_scoped_release release;
                text = format(task, predictions, values, odds, evaluations ? evaluations->evaluations.data() : nullptr);
            }
            return nb::bytes(text.data(), text.size());
        },
        "task"_a, "predictions"_a, "values"_a.none(), "odds"_a = false, "evaluations"_a.none() = nb::none());
    m.def(
        "format_g",
        [](double value, int digits) {
            char buffer[number_text_max];
            return std::string(buffer, write_g(buffer, value, digits));
        },
        "value"_a, "digits"_a = 6, "printf's %.<digits>g.");
    m.def("set_threads", &set_threads, "threads"_a, "0: as many as the process may run on.");
    m.def("get_threads", &get_threads);
    m.def("select_instruction_set", &select_instruction_set, "name"_a,
          "Use the hot loops built for 'baseline', 'avx2' or 'avx512'; False when that cannot be. For tests.");
    m.def("instruction_set", [] { return loops().name; }, "The one whose build of the hot loops runs.");
}

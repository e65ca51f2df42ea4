// Bindings of models/ for compilers.
#include "bind/bind.h"

#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "models/degree_norms.h"
#include "models/expansion.h"
#include "simd/loops.h"
#include "simd/packed.h"

using namespace nb::literals;
using namespace fastsvm;

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
            "Of support vectors x (n, d), about a center, with coefficients a (n).")
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
            "Of sparse rows y whose center m is not the origin: inner products y_i.y_j - shift_i - shift_j, with "
            "shift_i = y_i.m - |m|^2 / 2 (n); squared_norms (n): about the center.")
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

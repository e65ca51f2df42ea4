// Bindings of engine/header.h.
#include "bind/bind.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "engine/header.h"
#include "engine/model.h"
#include "exact/reference/kernel.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

using Numbers = std::optional<std::vector<double>>;
using Wholes = std::optional<std::vector<int>>;

}  // namespace

void bind_header(nb::module_& m) {
    m.attr("HEADER_KEYS") = nb::tuple(nb::cast(std::vector<std::string>(header_keys.begin(), header_keys.end())));
    m.attr("SVM_TYPES") = nb::tuple(nb::cast(std::vector<std::string>(svm_type_names.begin(), svm_type_names.end())));

    nb::class_<Header>(m, "Header",
                       "LIBSVM's keys before the support vectors, which compiled models keep. degree, gamma, coef0: 0 "
                       "if the kernel has none. nr_class: 2 for one-class and regression models. label, nr_sv: "
                       "(nr_class); None unless classification. rho, probA, probB: (pairs). prob_density_marks: (10).")
        .def(
            "__init__",
            [](Header* self, std::string svm_type, std::string kernel_type, std::int64_t nr_class,
               std::int64_t total_sv, std::vector<double> rho, int degree, double gamma, double coef0, Wholes label,
               Numbers prob_a, Numbers prob_b, Numbers marks, Wholes nr_sv) {
                const auto kernels = kernel_names.begin() + libsvm_kernels;
                if (std::find(svm_type_names.begin(), svm_type_names.end(), svm_type) == svm_type_names.end() ||
                    std::find(kernel_names.begin(), kernels, kernel_type) == kernels)
                    throw nb::value_error("no such svm_type or kernel_type");
                new (self) Header{std::move(svm_type),
                                  std::move(kernel_type),
                                  degree,
                                  gamma,
                                  coef0,
                                  nr_class,
                                  total_sv,
                                  std::move(rho),
                                  std::move(label),
                                  std::move(nr_sv),
                                  std::move(prob_a),
                                  std::move(prob_b),
                                  std::move(marks)};
            },
            "svm_type"_a, "kernel_type"_a, nb::kw_only(), "nr_class"_a, "total_sv"_a, "rho"_a, "degree"_a = 0,
            "gamma"_a = 0.0, "coef0"_a = 0.0, "label"_a.none() = nb::none(), "probA"_a.none() = nb::none(),
            "probB"_a.none() = nb::none(), "prob_density_marks"_a.none() = nb::none(), "nr_sv"_a.none() = nb::none())
        .def_ro("svm_type", &Header::svm_type)
        .def_ro("kernel_type", &Header::kernel_type)
        .def_ro("degree", &Header::degree)
        .def_ro("gamma", &Header::gamma)
        .def_ro("coef0", &Header::coef0)
        .def_ro("nr_class", &Header::nr_class)
        .def_ro("total_sv", &Header::total_sv)
        .def_ro("rho", &Header::rho)
        .def_ro("label", &Header::label)
        .def_ro("probA", &Header::prob_a)
        .def_ro("probB", &Header::prob_b)
        .def_ro("prob_density_marks", &Header::prob_density_marks)
        .def_ro("nr_sv", &Header::nr_sv)
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

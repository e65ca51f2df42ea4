// Bindings of engine/header.h.
#include "bind/fields.h"

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

// In a tuple, the field as bound, or nothing: arguments that every model needs precede those with a default.
template <bool needed, class Member> auto bound_if(const HeaderField<Member>& of) {
    constexpr bool parameter = std::is_same_v<Member, int> || std::is_same_v<Member, double>;
    constexpr bool optional = std::is_same_v<Member, Numbers> || std::is_same_v<Member, Wholes>;
    if constexpr (needed == (parameter || optional))
        return std::tuple();
    else if constexpr (needed)
        return std::tuple(field(of.key, of.member));
    else if constexpr (parameter)
        return std::tuple(field(of.key, of.member, Member(0)));
    else
        return std::tuple(field(of.key, of.member, nb::none()));
}

void check_types(const Header& header) {
    const auto kernels = kernel_names.begin() + libsvm_kernels;
    if (std::find(svm_type_names.begin(), svm_type_names.end(), header.svm_type) == svm_type_names.end() ||
        std::find(kernel_names.begin(), kernels, header.kernel_type) == kernels)
        throw nb::value_error("no such svm_type or kernel_type");
}

}  // namespace

void bind_header(nb::module_& m) {
    m.attr("HEADER_KEYS") = nb::tuple(nb::cast(std::vector<std::string>(header_keys.begin(), header_keys.end())));
    m.attr("SVM_TYPES") = nb::tuple(nb::cast(std::vector<std::string>(svm_type_names.begin(), svm_type_names.end())));

    nb::class_<Header> header(
        m, "Header",
        "LIBSVM's keys before the support vectors, which compiled models keep. degree, gamma, coef0: 0 "
        "if the kernel has none. nr_class: 2 for one-class and regression models. label, nr_sv: "
        "(nr_class); None unless classification. rho, probA, probB: (pairs). prob_density_marks: (10).");
    const auto bound = std::apply(
        [](const auto&... of) { return std::tuple_cat(bound_if<true>(of)..., bound_if<false>(of)...); }, header_fields);
    std::apply([&](const auto&... fields) { bind_checked_fields(header, check_types, fields...); }, bound);
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

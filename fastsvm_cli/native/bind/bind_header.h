// Converts between Header and Python's text.header.Header, whose arguments have LIBSVM's names.
#pragma once
#include "bind/bind.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "engine/header.h"

inline nb::dict keywords_of(const fastsvm::Header& header) {
    nb::dict out;
    out["svm_type"] = header.svm_type;
    out["kernel_type"] = header.kernel_type;
    out["degree"] = header.degree;
    out["gamma"] = header.gamma;
    out["coef0"] = header.coef0;
    out["nr_class"] = header.nr_class;
    out["total_sv"] = header.total_sv;
    out["rho"] = header.rho;
    out["label"] = header.label;
    out["probA"] = header.prob_a;
    out["probB"] = header.prob_b;
    out["prob_density_marks"] = header.prob_density_marks;
    out["nr_sv"] = header.nr_sv;
    return out;
}

inline fastsvm::Header header_of(nb::handle object) {
    fastsvm::Header out;
    const auto read = [&](const char* key, auto& value) {
        value = nb::cast<std::decay_t<decltype(value)>>(object.attr(key));
    };
    read("svm_type", out.svm_type);
    read("kernel_type", out.kernel_type);
    read("degree", out.degree);
    read("gamma", out.gamma);
    read("coef0", out.coef0);
    read("nr_class", out.nr_class);
    read("total_sv", out.total_sv);
    read("rho", out.rho);
    read("label", out.label);
    read("probA", out.prob_a);
    read("probB", out.prob_b);
    read("prob_density_marks", out.prob_density_marks);
    read("nr_sv", out.nr_sv);
    return out;
}

// The room engine/: model files.
#include "bind/bind.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "engine/header.h"
#include "engine/model_fault.h"
#include "engine/sha256.h"
#include "exact/kernel.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

// Returns the result of `read`; raises its ModelFault as ValueError(why, line).
template <class Read> auto reading(Read read) {
    try {
        return read();
    } catch (const ModelFault& fault) {
        raise_value_error(nb::make_tuple(fault.what(), fault.line));
    }
}

std::string_view view_of(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

// The keyword arguments of text.header.Header.
nb::dict keywords(const Header& header) {
    nb::dict out;
    out["svm_type"] = header.svm_type;
    out["kernel_type"] = header.kernel_type;
    out["degree"] = header.degree;
    out["gamma"] = header.gamma;
    out["coef0"] = header.coef0;
    out["nr_class"] = header.nr_class;
    out["total_sv"] = header.total_sv;
    out["rho"] = header.rho;
    if (header.label) out["label"] = *header.label;
    if (header.prob_a) out["probA"] = *header.prob_a;
    if (header.prob_b) out["probB"] = *header.prob_b;
    if (header.prob_density_marks) out["prob_density_marks"] = *header.prob_density_marks;
    if (header.nr_sv) out["nr_sv"] = *header.nr_sv;
    return out;
}

}  // namespace

void bind_engine(nb::module_& m) {
    m.attr("HEADER_KEYS") = nb::tuple(nb::cast(std::vector<std::string>(header_keys.begin(), header_keys.end())));
    m.attr("SVM_TYPES") = nb::tuple(nb::cast(std::vector<std::string>(svm_type_names.begin(), svm_type_names.end())));
    m.attr("KERNEL_TYPES") =
        nb::tuple(nb::cast(std::vector<std::string>(kernel_names.begin(), kernel_names.begin() + libsvm_kernels)));
    m.def(
        "read_libsvm_header",
        [](AnyText text) -> nb::typed<nb::tuple, nb::dict, std::size_t> {
            const Bytes bytes(text);
            const HeaderText read = reading([&] { return read_libsvm_header(view_of(bytes)); });
            return nb::make_tuple(keywords(read.header), read.end);
        },
        "text"_a,
        "(keyword arguments of a Header, offset after the line of the word SV). Raises ValueError(why, line), as all "
        "of "
        "these do.");
    m.def(
        "read_compiled_header",
        [](AnyText text, const std::string& last, const std::vector<std::string>& own_keys, std::size_t offset,
           std::int64_t line) -> nb::typed<nb::tuple, nb::dict, nb::dict, std::size_t, std::int64_t> {
            const Bytes bytes(text);
            const HeaderText read =
                reading([&] { return read_compiled_header(view_of(bytes), last, own_keys, offset, line); });
            nb::dict own;
            for (const auto& [key, found] : read.own) own[key.c_str()] = nb::make_tuple(found.words, found.line);
            return nb::make_tuple(keywords(read.header), own, read.end, read.line);
        },
        "text"_a, "last"_a, "own_keys"_a, "offset"_a, "line"_a,
        "(keyword arguments of a Header, {own key: (words, line)}, offset after the line `last`, its number).");
    nb::class_<Sha256>(m, "Sha256", "A SHA-256 of a text that comes in pieces.")
        .def(nb::init<>())
        .def(
            "update",
            [](Sha256& self, AnyText text) {
                const Bytes bytes(text);
                const nb::gil_scoped_release release;
                self.update(bytes.data(), bytes.size());
            },
            "text"_a)
        .def("hexdigest", &Sha256::hexadecimal, "Its 64 hexadecimal digits. Ends the use of this object.");
    m.def(
        "line_words",
        [](AnyText line, std::int64_t number) {
            const Bytes bytes(line);
            return reading([&] { return line_words(view_of(bytes), number); });
        },
        "line"_a, "number"_a, "The words of a model file's line.");
    m.def(
        "one_word",
        [](std::vector<std::string> words, const std::string& key, std::int64_t line,
           const std::vector<std::string>& choices) {
            const KeyWords found{std::move(words), line};
            return reading([&] { return std::string(one_word(found, key, choices)); });
        },
        "words"_a, "key"_a, "line"_a, "choices"_a,
        "The only word after a key; one of `choices`, unless there are none.");
    m.def(
        "whole_number",
        [](const std::string& word, const std::string& key, std::int64_t line) {
            return reading([&] { return whole_number(word, key, line); });
        },
        "word"_a, "key"_a, "line"_a, "A word after a key, as a whole number of 32 bits.");
    m.def(
        "real_number",
        [](const std::string& word, const std::string& key, std::int64_t line) {
            return reading([&] { return real_number(word, key, line); });
        },
        "word"_a, "key"_a, "line"_a, "A word after a key, as a finite number.");
}

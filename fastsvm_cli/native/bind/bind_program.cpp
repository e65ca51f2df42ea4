// Bindings of program/: does the work of `fastsvm predict` as fastsvm-predict does it, in Python's process.
#include "bind/bind.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/file_error.h"
#include "files/stop.h"
#include "program/options.h"
#include "program/prediction.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

ByteStream decompressed(const std::string& path, int descriptor, const std::string& begun) {
    const nb::gil_scoped_acquire acquire;
    const nb::object read_ahead = nb::make_tuple(descriptor, bytes_of(begun));
    const nb::object content =
        nb::module_::import_("fastsvm_cli.text.byte_source").attr("Content")(decoded(path), "begun"_a = read_ahead);
    return stream_of(nb::cast<ReadInto>(content.attr("read_into")), nb::cast<Ready>(content.attr("ready")));
}

bool predict(const std::vector<std::string>& words) {
    const std::optional<Options> options = read_shared_options(words);
    if (!options) return false;
    const StopSignals heeded;
    if (!options->quiet) announce_interruption();
    heed_signals();  // that arrived before
    std::unique_ptr<Prediction> prediction;
    try {
        prediction = std::make_unique<Prediction>(*options, decompressed);
        if (prediction->has_notes()) return false;
        prediction->prepare();
        prediction->check_exact();
    } catch (const nb::python_error&) {
        throw;
    } catch (...) {
        return false;
    }
    try {
        prediction->run();
    } catch (const ReaderGone&) {  // not an error
    }
    prediction.release();  // without destructors: the process ends
    return true;
}

}  // namespace

void bind_program(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const LineError& failure) {
            const nb::module_ errors = nb::module_::import_("fastsvm_cli.errors");
            const nb::object path = decoded(failure.path);
            const nb::object line = failure.line ? nb::object(nb::int_(failure.line)) : nb::none();
            const nb::object type =
                errors.attr(failure.file == LineError::data ? "DataFormatError" : "ModelFormatError");
            const nb::object error =
                failure.file == LineError::data ? type(path, line, failure.why) : type(path, failure.why, line);
            PyErr_SetObject(type.ptr(), error.ptr());
        }
    });
    m.def(
        "refuse_model_output", [](const nb::bytes& path) { refuse_model_output({path.c_str(), path.size()}); },
        "path"_a, "Raises FileError if a file that predictions are to replace is a model.");
    m.def(
        "predict_as_program",
        [](const std::vector<nb::bytes>& words) {
            std::vector<std::string> texts;
            for (const nb::bytes& word : words) texts.emplace_back(word.c_str(), word.size());
            const nb::gil_scoped_release release;
            return predict(texts);
        },
        "words"_a,
        "Do what `fastsvm predict` does with these words, as the process's last work; False, and nothing is done, if "
        "that is Python's to do: other options, a progress bar, models that are wrong, compressed or in a pipe. Raises "
        "DataFormatError, ModelFormatError, FileError.");
}

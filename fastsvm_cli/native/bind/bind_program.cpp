// Bindings of program/: predictions of files, in Python's process.

#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bind/bind.h"
#include "files/output.h"
#include "files/source.h"
#include "program/prediction.h"
#include "program/request.h"
#include "system/platform.h"
#include "text/scaling.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

ByteStream decompressed(const std::string& path, int descriptor, const std::string& begun) {
    const nb::gil_scoped_acquire acquire;
    const nb::object content = nb::module_::import_("fastsvm_cli.text.files")
                                   .attr("Content")(path, "begun"_a = std::pair(descriptor, AsBytes{begun}));
    return nb::cast<ByteStream>(content);
}

// The exit code; none if Python must read the words.
std::optional<int> predict_words(const std::vector<std::string>& words) {
    std::optional<Request> request;
    try {
        bool help = false, version = false;
        request = read_request(words, &help, &version);
        request->check();
        if (help || version || request->dask || request->resume || (!request->quiet && is_terminal(2)))
            return std::nullopt;
    } catch (const UsageError&) {
        return std::nullopt;
    }
    const StopSignals heeded;
    if (!request->quiet) announce_interruption();
    heed_signals();  // that arrived before
    auto prediction = std::make_unique<Prediction>(std::move(*request), decompressed);
    int code = 0;
    try {
        prediction->prepare();
        prediction->begin();
        prediction->run();
        code = prediction->end();
    } catch (const ReaderGone&) {  // not an error
    }
    prediction.release();  // without destructors: the process ends
    return code;
}

// Any object's truth, as Python's options have it.
template <class T> void assign(T& out, nb::handle value) {
    if constexpr (std::is_same_v<T, bool>)
        out = nb::cast<bool>(nb::bool_(nb::borrow(value)));
    else
        out = nb::cast<T>(value);
}

// Calls visit(member) with the member of this name; false if there is none.
template <class R, class Visit> bool with_member(R& request, const std::string& name, Visit visit) {
    for (const PredictOption& option : predict_options)
        if (name == option.name) return std::visit([&](auto member) { visit(request.*member); }, option.member), true;
    if (name == "test_file") return visit(request.test_file), true;
    if (name == "model_file") return visit(request.model_file), true;
    if (name == "output_file") return visit(request.output_file), true;
    return false;
}

void bind_request(nb::module_& m) {
    nb::class_<Request>(m, "Request",
                        "Options and files of predict, by their names in commands/predict.py. given: names of "
                        "the options that the user gave.")
        .def("__init__",
             [](Request* self, const nb::kwargs& values) {
                 new (self) Request();
                 for (const auto [key, value] : values) {
                     const std::string name = nb::cast<std::string>(key);
                     const nb::handle to = value;
                     if (name == "given")
                         self->given = nb::cast<std::set<std::string>>(to);
                     else if (!with_member(*self, name, [&](auto& member) { assign(member, to); }))
                         throw nb::type_error(("no option " + name).c_str());
                 }
             })
        .def(
            "__getattr__",
            [](const Request& self, const std::string& name) {
                nb::object out;
                if (!with_member(self, name, [&](const auto& member) { out = nb::cast(member); }))
                    throw nb::attribute_error(name.c_str());
                return out;
            },
            nb::sig("def __getattr__(self, name: str, /) -> typing.Any"))
        .def("check", &Request::check, "Raises click.UsageError for options that conflict.");
}

void bind_prediction(nb::module_& m) {
    nb::class_<Prediction>(
        m, "Prediction", "A run of predict. Raises click.UsageError, DataFormatError, ModelFormatError and FileError.")
        .def(
            "__init__",
            [](Prediction* self, const Request& request, Prediction::Contents contents) {
                new (self) Prediction(request, decompressed, std::move(contents));
            },
            "request"_a, "contents"_a = Prediction::Contents(),
            "contents: of files that are read already, decompressed, by path.")
        .def(nb::init<Request, std::shared_ptr<ModelFile>, std::string, std::int32_t, std::shared_ptr<Fallback>,
                      Prediction::Say>(),
             "request"_a, "model"_a, "fingerprint"_a, "first_index"_a, "exact"_a.none(), "warn"_a,
             "A run with models that are read already. first_index: of dense rows. warn: receives its warnings; it "
             "prints nothing.")
        .def("prepare", &Prediction::prepare, WithoutGil(), "Check files and options, and read all but the rows.")
        .def("begin", &Prediction::begin, "Print the notes that precede the first row.")
        .def(
            "answer",
            [](Prediction& self, ByteStream stream, WriteBytes write, WriteBytes write_open, WriteBytes write_outside,
               std::function<void()> after_chunk, bool head) {
                Outputs outputs;
                outputs.lines = writer(std::move(write));
                outputs.open_rows = writer(std::move(write_open));
                outputs.outside_rows = writer(std::move(write_outside));
                outputs.after_chunk = std::move(after_chunk);
                const nb::gil_scoped_release release;
                self.answer(std::move(stream), std::move(outputs), head);
            },
            "stream"_a, "write"_a, "write_open"_a.none() = nb::none(), "write_outside"_a.none() = nb::none(),
            "after_chunk"_a.none() = nb::none(), "head"_a = true,
            "Answer the rows of a stream, as that of LineBlocks. head: whether to write the lines before the first "
            "row.")
        .def("fields", &Prediction::fields, "stream"_a, WithoutGil(),
             "Values of a stream's first valid dense row, as in Position.")
        .def("end", &Prediction::end, WithoutGil(), "Print warnings and the summary; return the exit code.")
        .def("document", &Prediction::document, "The summary as one line of JSON.")
        .def("made_with", &Prediction::made_with, "(name, value) of all options that the lines depend on.")
        .def("of_part", &Prediction::of_part, nb::keep_alive<0, 1>(), "name"_a, "seed"_a,
             "The same run over another part of the rows, with its own counts. seed: of its audit.")
        .def_rw("block_size", &Prediction::block_size, "bytes of text that a thread takes at a time, at most")
        .def_ro("run_counts", &Prediction::run_counts)
        .def_rw("position", &Prediction::position)
        .def_ro("scaled", &Prediction::scaled)
        .def_prop_ro(
            "bad_rows", [](Prediction& self) { return self.bad_rows ? &*self.bad_rows : nullptr; },
            nb::rv_policy::reference_internal, nb::sig("def bad_rows(self) -> BadRows | None"));
}

// Raises an exception of the package.
template <class... Arguments> void raise(const char* module, const char* name, const Arguments&... arguments) {
    const nb::object type = nb::module_::import_(module).attr(name);
    PyErr_SetObject(type.ptr(), type(arguments...).ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
    const char* const errors = "fastsvm_cli.errors";
    try {
        std::rethrow_exception(thrown);
    } catch (const RowError& error) {
        raise(errors, "RowError", error.row, error.what());
    } catch (const LineError& error) {
        const nb::object line = error.line ? nb::cast(error.line) : nb::none();
        if (error.file == LineError::data)
            raise(errors, "DataFormatError", error.path, line, error.why);
        else
            raise(errors, "ModelFormatError", error.path, error.why, line);
    } catch (const ScalingFileError& error) {
        PyErr_SetObject(PyExc_ValueError, nb::make_tuple(error.what(), error.line).ptr());
    } catch (const UsageError& error) {
        raise("click", "UsageError", std::string(error.what()));
    } catch (const FileError& error) {
        nb::object why = nb::cast(error.why);
        if (error.error) why = nb::handle(PyExc_OSError)(error.error, why);
        raise(errors, "FileError", error.name, why);
    } catch (const ReaderGone&) {
        errno = EPIPE;
        PyErr_SetFromErrno(PyExc_OSError);  // becomes BrokenPipeError
    }
}

// Exists before it is opened, so that a waiting open can be abandoned.
struct OutputFile {
    void open(const std::string& path) { output.emplace(path, heed_signals); }  // it may wait for a reader
    Output& opened() {
        if (!output) throw nb::value_error("the output is not open");
        return *output;
    }
    std::optional<Output> output;
};

void bind_files(nb::module_& m) {
    nb::class_<OutputFile>(m, "OutputFile", "A file written whole or not at all.")
        .def(nb::init<>())
        .def("open", &OutputFile::open, "path"_a, WithoutGil(), "Raises FileError, as do write and finish.")
        .def(
            "write", [](OutputFile& self, std::string_view data) { self.opened().write(data.data(), data.size()); },
            "data"_a, WithoutGil(), "Also raises BrokenPipeError.")
        .def(
            "finish", [](OutputFile& self) { self.opened().finish(); }, WithoutGil(), "Move the file into place.")
        .def(
            "abandon",
            [](OutputFile& self) {
                if (self.output) self.output->abandon();
            },
            "Remove the temporary file, if any.")
        .def("close", [](OutputFile& self) { self.output.reset(); }, "Without `finish`, keep the previous file.");
    m.def("check_output", &check_output, "path"_a, "inputs"_a);
    m.def("check_apart", &check_apart, "paths"_a);
    m.def("standard_descriptor", &standard_descriptor, "path"_a,
          "Descriptor that a path names, such as 1 for \"-\"; None for a file.");
    m.def("widen_pipe", &widen_pipe, "descriptor"_a, "bytes"_a, "Enlarge a pipe's buffer, if possible.");
    m.attr("MAGIC_BYTES") = magic_bytes;
    m.def(
        "compression",
        [](std::string_view start) {
            const Compression* const found = compression(start);
            return found ? std::optional(std::pair<std::string, std::string>(found->name, found->tool)) : std::nullopt;
        },
        "start"_a, "(name, command that prints the content) from a file's first MAGIC_BYTES; None if not compressed.");
    m.def("may_be_compressed", &may_be_compressed, "start"_a,
          "Whether a file that begins with these bytes, perhaps fewer than MAGIC_BYTES, may be compressed.");
}

}  // namespace

void bind_program(nb::module_& m) {
    nb::register_exception_translator(translate);
    bind_files(m);
    bind_request(m);
    bind_prediction(m);
    m.def("refuse_model_output", &refuse_model_output, "path"_a,
          "Raises FileError if a file that predictions are to replace is a model.");
    m.def(
        "predict_as_program", &predict_words, "words"_a, WithoutGil(),
        "Do what `fastsvm predict` does with these words, as the process's last work, and return the exit code; None, "
        "and nothing is done, if Python must read the words, or for a progress bar, --resume and --dask.");
}

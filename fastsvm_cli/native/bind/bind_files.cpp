// Bindings of files/ and system/.
#include "bind/bind.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/compression.h"
#include "files/file_error.h"
#include "files/output.h"
#include "system/platform.h"

using namespace nb::literals;
using namespace fastsvm;

namespace {

std::string_view view_of(const nb::bytes& text) { return {text.c_str(), text.size()}; }
std::string path_of(const nb::bytes& path) {
    const std::string out(view_of(path));
    if (out.find('\0') != out.npos) throw nb::value_error("embedded null byte");
    return out;
}

std::vector<std::string> paths_of(const std::vector<nb::bytes>& paths) {
    std::vector<std::string> out;
    for (const nb::bytes& each : paths) out.push_back(path_of(each));
    return out;
}

// Exists before it is opened, so that a waiting open can be abandoned.
struct OutputFile {
    void open(const nb::bytes& path) {
        const std::string name = path_of(path);
        const nb::gil_scoped_release release;
        output.emplace(name, heed_signals);  // it may wait for a reader
    }
    Output& opened() {
        if (!output) throw nb::value_error("the output is not open");
        return *output;
    }
    std::optional<Output> output;
};

}  // namespace

void bind_files(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const FileError& error) {
            const nb::object type = nb::module_::import_("fastsvm_cli.errors").attr("FileError");
            nb::object why = decoded(error.why);
            if (error.error) why = nb::handle(PyExc_OSError)(error.error, why);
            PyErr_SetObject(type.ptr(), type(decoded(error.name), why).ptr());
        } catch (const ReaderGone&) {
            errno = EPIPE;
            PyErr_SetFromErrno(PyExc_OSError);  // becomes BrokenPipeError
        }
    });
    nb::class_<OutputFile>(m, "OutputFile", "A file written whole or not at all. Paths are bytes.")
        .def(nb::init<>())
        .def("open", &OutputFile::open, "path"_a, "Raises FileError, as do write and finish.")
        .def(
            "write",
            [](OutputFile& self, AnyText data) {
                Output& output = self.opened();
                const Bytes bytes(data);
                const nb::gil_scoped_release release;
                output.write(bytes.data(), bytes.size());
            },
            "data"_a, "Also raises BrokenPipeError.")
        .def(
            "finish", [](OutputFile& self) { self.opened().finish(); }, nb::call_guard<nb::gil_scoped_release>(),
            "Move the file into place.")
        .def(
            "abandon",
            [](OutputFile& self) {
                if (self.output) self.output->abandon();
            },
            "Remove the temporary file, if any.")
        .def("close", [](OutputFile& self) { self.output.reset(); }, "Without `finish`, keep the previous file.");
    m.def(
        "check_output",
        [](const nb::bytes& path, const std::vector<nb::bytes>& inputs) {
            check_output(path_of(path), paths_of(inputs));
        },
        "path"_a, "inputs"_a);
    m.def("check_apart", [](const std::vector<nb::bytes>& paths) { check_apart(paths_of(paths)); }, "paths"_a);
    m.def(
        "standard_descriptor", [](const nb::bytes& path) { return standard_descriptor(path_of(path)); }, "path"_a,
        "Descriptor that a path names, such as 1 for b'-'; None for a file.");
    m.def("widen_pipe", &widen_pipe, "descriptor"_a, "bytes"_a, "Enlarge a pipe's buffer, if possible.");
    m.attr("MAGIC_BYTES") = magic_bytes;
    m.def(
        "compression",
        [](const nb::bytes& start) -> std::optional<std::pair<std::string, std::string>> {
            const Compression* const found = compression(view_of(start));
            if (!found) return std::nullopt;
            return std::make_pair(std::string(found->name), std::string(found->tool));
        },
        "start"_a, "(name, command that prints the content) from a file's first MAGIC_BYTES; None if not compressed.");
    m.def(
        "may_be_compressed", [](const nb::bytes& start) { return may_be_compressed(view_of(start)); }, "start"_a,
        "Whether a file that begins with these bytes, perhaps fewer than MAGIC_BYTES, may be compressed.");
}

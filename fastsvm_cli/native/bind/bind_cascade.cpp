// Bindings of cascades.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bind/fields.h"
#include "models/cascade.h"

using namespace nb::literals;
using namespace fastsvm;

void bind_cascade(nb::module_& m) {
    bind_record<CascadeStage>(m, "CascadeStage",
                              "A stage of a cascade. polynomial: (pairs, packed coefficients), coefficients: (pairs, "
                              "vectors), both flat.",
                              field("degree", &CascadeStage::degree), field("vectors", &CascadeStage::vectors),
                              field("threshold", &CascadeStage::threshold),
                              field<In::buffer>("polynomial", &CascadeStage::polynomial),
                              field<In::buffer>("coefficients", &CascadeStage::coefficients))
        .def_rw("threshold", &CascadeStage::threshold);
    nb::class_<Cascade>(m, "Cascade", "Stages that give rows a label, or leave them.")
        .def(nb::init<const SvmModel&, const std::vector<std::int64_t>&, std::vector<std::int32_t>, std::vector<double>,
                      double, std::vector<CascadeStage>>(),
             "exact"_a, "chosen"_a, "features"_a, "center"_a, "longest"_a, "stages"_a)
        .def(
            "label",
            [](const Cascade& self, const Chunk& chunk) {
                std::vector<std::int32_t> winner(static_cast<std::size_t>(chunk.rows->rows));
                std::vector<std::int64_t> stopped(self.stages().size());
                {
                    const nb::gil_scoped_release release;
                    self.label(*chunk.rows, winner.data(), stopped.data());
                }
                return std::pair(std::move(winner), std::move(stopped));
            },
            "chunk"_a, "(winner of each row or -1, rows answered by each stage)")
        .def(
            "margins",
            [](const Cascade& self, const Chunk& chunk, std::size_t stage) {
                std::vector<double> winner, margin(static_cast<std::size_t>(chunk.rows->rows));
                {
                    const nb::gil_scoped_release release;
                    std::vector<std::int32_t> found(margin.size());
                    self.margins(*chunk.rows, stage, found.data(), margin.data());
                    winner.assign(found.begin(), found.end());
                }
                return std::pair(owned(std::move(winner)), owned(std::move(margin)));
            },
            "chunk"_a, "stage"_a, "(winner, margin) of each row in one stage.");
    bind_kind<CascadeFile, std::shared_ptr<LibsvmFile>, WithExactFile>(
        m, "CascadeFile", "A cascade.", "exact", field<In::argument>("fingerprint", &CascadeFile::fingerprint),
        field("budget", &CascadeFile::budget), field("confidence", &CascadeFile::confidence),
        field("tested", &CascadeFile::tested), field("differing", &CascadeFile::differing),
        field<In::argument>("chosen", &CascadeFile::chosen), field<In::argument>("features", &CascadeFile::features),
        field<In::argument>("center", &CascadeFile::center), field<In::argument>("longest", &CascadeFile::longest),
        field("stages", &CascadeFile::stages))
        .def("cascade", &CascadeFile::cascade, "The stages, without the exact model.");
}

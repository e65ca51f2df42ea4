// Bindings of cascades.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bind/bind.h"
#include "engine/cascade_file.h"
#include "models/cascade.h"

using namespace nb::literals;
using namespace fastsvm;

void bind_cascade(nb::module_& m) {
    nb::class_<CascadeStage>(m, "CascadeStage", "A stage of a cascade.")
        .def(
            "__init__",
            [](CascadeStage* self, int degree, std::int64_t vectors, double threshold, const NumberArray& polynomial,
               const NumberArray& coefficients) {
                new (self)
                    CascadeStage{degree, vectors, threshold,
                                 std::vector<double>(polynomial.data(), polynomial.data() + polynomial.size()),
                                 std::vector<double>(coefficients.data(), coefficients.data() + coefficients.size())};
            },
            "degree"_a, "vectors"_a, "threshold"_a, "polynomial"_a, "coefficients"_a,
            "polynomial: (pairs, packed coefficients), coefficients: (pairs, vectors), both flat.")
        .def_ro("degree", &CascadeStage::degree)
        .def_ro("vectors", &CascadeStage::vectors)
        .def_rw("threshold", &CascadeStage::threshold)
        .def_ro("polynomial", &CascadeStage::polynomial)
        .def_ro("coefficients", &CascadeStage::coefficients);
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
    nb::class_<CascadeFile, CompiledFile>(m, "CascadeFile", "A cascade.")
        .def(
            "__init__",
            [](CascadeFile* self, std::shared_ptr<LibsvmFile> exact, std::string fingerprint, double budget,
               double confidence, std::int64_t tested, std::int64_t differing, std::vector<std::int64_t> chosen,
               std::vector<std::int32_t> features, std::vector<double> center, double longest,
               std::vector<CascadeStage> stages) {
                new (self) CascadeFile(
                    std::move(exact), std::move(fingerprint), {budget, confidence, tested, differing},
                    {std::move(features), std::move(center), longest, std::move(chosen), std::move(stages)});
            },
            "exact"_a, "fingerprint"_a, nb::kw_only(), "budget"_a, "confidence"_a, "tested"_a, "differing"_a,
            "chosen"_a, "features"_a, "center"_a, "longest"_a, "stages"_a)
        .def_prop_ro("exact", [](const CascadeFile& self) { return std::const_pointer_cast<LibsvmFile>(self.exact); })
        .def_prop_ro("budget", [](const CascadeFile& self) { return self.guarantee.budget; })
        .def_prop_ro("confidence", [](const CascadeFile& self) { return self.guarantee.confidence; })
        .def_prop_ro("tested", [](const CascadeFile& self) { return self.guarantee.tested; })
        .def_prop_ro("differing", [](const CascadeFile& self) { return self.guarantee.differing; })
        .def_prop_ro("stages", [](const CascadeFile& self) { return self.parts.stages; })
        .def("cascade", &CascadeFile::cascade, "The stages, without the exact model.");
}

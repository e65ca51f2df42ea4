#include "engine/density_file.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "engine/compiled_model.h"
#include "engine/model_error.h"
#include "exact/values/panels.h"
#include "models/density.h"

namespace fastsvm {

void DensityFile::keys(Archive& archive) {
    archive.word("fingerprint", fingerprint);
    archive.real("weight", weight);
    const std::size_t classes = header.nr_sv ? header.nr_sv->size() : 0;
    if (archive.checks() && (classes < 2 || header.rho.size() != classes * (classes - 1) / 2))
        throw std::invalid_argument("a density estimate without the pairs of two or more classes");
    if (!archive.reads()) return;
    if (!header.classification() || header.nr_class < 2)
        archive.fail_header("a density estimate without two classes found");
    std::vector<int> counts = *header.nr_sv;
    std::partial_sort(counts.begin(), counts.begin() + 2, counts.end());
    if (counts[0] < 1 || !(weight > 0 && weight < static_cast<double>(counts[0]) + counts[1]))
        archive.fail("weight", "weight " + archive.key("weight", "")->words[0].substr(0, 40) + " and classes of " +
                                   std::to_string(counts[0]) + " and " + std::to_string(counts[1]) +
                                   " rows found, expected a weight above 0 and below the rows of any two classes");
}

void DensityFile::body(Archive& archive) {
    archive.rows(rows, header.total_sv);
    archive.end("the rows that total_sv announces");
    if (!archive.reads()) return;
    std::int64_t row = 0;
    for (std::size_t c = 0; c < header.nr_sv->size(); ++c)
        for (const std::int64_t last = row + (*header.nr_sv)[c]; row < last; ++row)
            if (rows->leading[row] != (*header.label)[c])
                throw ModelError("a row of another class than " + std::to_string((*header.label)[c]) +
                                     " found, which 'nr_sv' announces",
                                 rows->first_line + row);
    const std::int64_t features = static_cast<std::int64_t>(used_indices().size());
    if (rows->rows * features > most_density_cells) throw ModelError(too_many_cells(rows->rows, features));
}

std::vector<std::int32_t> DensityFile::used_indices() const { return fastsvm::used_indices(*rows); }

std::shared_ptr<Model> DensityFile::make_model() const {
    const std::vector<std::int64_t> nr_sv(header.nr_sv->begin(), header.nr_sv->end());
    return std::make_shared<CompiledModel<Density>>(header, std::make_shared<const Density>(nr_sv, weight, *rows));
}

std::string too_many_cells(std::int64_t rows, std::int64_t features) {
    const auto gigabytes = [](std::int64_t cells) {
        const std::int64_t tenths = std::llround(static_cast<double>(cells) * 8e-8);
        return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB";
    };
    return std::to_string(rows) + " rows of " + std::to_string(features) + " features found, which take " +
           gigabytes(rows * features) + " as a dense matrix, expected at most " + gigabytes(most_density_cells) +
           ": take fewer rows";
}

}  // namespace fastsvm

#include "engine/border_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/body.h"
#include "engine/model_fault.h"
#include "exact/strips.h"

namespace fastsvm {

BorderFile read_border(std::string_view text) {
    constexpr int most_local = 64;
    CompiledFile file = read_compiled(
        text, "border", {"fingerprint", "features", "precision", "nr_border", "level", "local"}, {raw_rows_key});
    const OwnKeys& own = file.own;
    BorderFile out;
    if (file.header.regression())
        file.body.fail("a border of type " + file.header.svm_type + " found, expected classes", file.body.at - 1);
    const std::vector<int> counts = own.wholes("nr_border", file.header.pairs());
    const std::vector<double> levels = own.reals("level", file.header.pairs());
    if (std::any_of(counts.begin(), counts.end(), [](int count) { return count < 0; }))
        own.fail("nr_border", "a negative number of border samples found");
    out.local = own.whole("local", 1, most_local);
    out.single = own.word("precision", {"single", "double"}) == "single";
    out.features = read_ranges(own.words("features"), text.size());
    const std::int64_t d = static_cast<std::int64_t>(out.features.size());
    if (!d && std::any_of(counts.begin(), counts.end(), [](int count) { return count > 0; }))
        own.fail("nr_border", "border samples without features found");
    for (std::size_t pair = 0; pair < counts.size(); ++pair)
        out.samples.push_back({levels[pair], counts[pair], file.body.numbers(2 * d * counts[pair], out.single)});
    file.body.end("the border samples that nr_border announces");
    out.fingerprint = own.word("fingerprint");
    out.raw_rows = own.raw_rows();
    out.header = std::move(file.header);
    return out;
}

DensityFile read_density(std::string_view text) {
    CompiledFile file = read_compiled(text, "rows", {"fingerprint", "weight"});
    const OwnKeys& own = file.own;
    const Header& header = file.header;
    DensityFile out;
    if (!header.classification() || header.nr_class < 2)
        file.body.fail("a density estimate without two classes found", file.body.at - 1);
    out.weight = own.real("weight");
    std::vector<int> counts = *header.nr_sv;
    std::partial_sort(counts.begin(), counts.begin() + 2, counts.end());
    if (counts[0] < 1 || !(out.weight > 0 && out.weight < static_cast<double>(counts[0]) + counts[1]))
        own.fail("weight", "weight " + own.word("weight").substr(0, 40) + " and classes of " +
                               std::to_string(counts[0]) + " and " + std::to_string(counts[1]) +
                               " rows found, expected a weight above 0 and below the rows of any two classes");
    out.rows = file.body.rows(header.total_sv);
    file.body.end("the rows that total_sv announces");
    std::int64_t row = 0;
    for (std::size_t c = 0; c < header.nr_sv->size(); ++c)
        for (const std::int64_t last = row + (*header.nr_sv)[c]; row < last; ++row)
            if (out.rows.leading[row] != (*header.label)[c])
                throw ModelFault("a row of another class than " + std::to_string((*header.label)[c]) +
                                     " found, which 'nr_sv' announces",
                                 out.rows.first_line + row);
    const std::int64_t features = static_cast<std::int64_t>(used_indices(out.rows).size());
    if (out.rows.rows * features > most_density_cells) throw ModelFault(too_many_cells(out.rows.rows, features));
    out.fingerprint = own.word("fingerprint");
    out.header = std::move(file.header);
    return out;
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

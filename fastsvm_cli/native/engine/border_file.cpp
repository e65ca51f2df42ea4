#include "engine/border_file.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/compiled_model.h"
#include "models/border.h"

namespace fastsvm {

void BorderFile::keys(Archive& archive) {
    std::vector<std::int64_t> counts;
    std::vector<double> levels;
    for (const auto& each : samples) counts.push_back(each->count), levels.push_back(each->level);
    archive.word("fingerprint", fingerprint);
    archive.features(features);
    archive.raw_rows(folded);
    archive.precision(single);
    archive.wholes("nr_border", counts, header.pairs());
    archive.reals("level", levels, header.pairs());
    archive.whole("local", local, 1, most_local);
    if (archive.checks() && samples.size() != header.rho.size()) throw std::invalid_argument("wrong number of pairs");
    if (!archive.reads()) return;
    if (header.regression()) archive.fail_header("a border of type " + header.svm_type + " found, expected classes");
    if (std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; }))
        archive.fail("nr_border", "a negative number of border samples found");
    if (features.empty() && std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; }))
        archive.fail("nr_border", "border samples without features found");
    for (std::size_t pair = 0; pair < counts.size(); ++pair)
        samples.push_back(std::make_shared<Samples>(Samples{levels[pair], counts[pair], {}}));
}

void BorderFile::body(Archive& archive) {
    const std::int64_t d = static_cast<std::int64_t>(features.size());
    for (const auto& each : samples) archive.numbers(each->rows, 2 * each->count, d, single);
    archive.end("the border samples that nr_border announces");
}

std::size_t BorderFile::bytes() const {
    std::size_t out = 0;
    for (const auto& each : samples) out += each->rows.size() * sizeof(double);
    return out;
}

std::shared_ptr<Model> BorderFile::make_model() const {
    auto evaluator = std::make_shared<Border>(features, local);
    for (const auto& each : samples) evaluator->add_pair(each->level, each->count, each->rows.data());
    return std::make_shared<CompiledModel<Border>>(header, evaluator);
}

}  // namespace fastsvm

#include "engine/border_file.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "engine/compiled_model.h"
#include "engine/compiled_text.h"
#include "models/border.h"

namespace fastsvm {

BorderFile::BorderFile(Header header, std::string fingerprint, std::vector<std::int32_t> features,
                       std::vector<std::shared_ptr<const Samples>> samples, int local, bool single,
                       std::optional<FoldedScaling> folded)
    : CompiledFile(std::move(header), std::move(fingerprint), std::move(folded)),
      features(std::move(features)),
      samples(std::move(samples)),
      local(local),
      single(single) {
    if (this->samples.size() != this->header.rho.size()) throw std::invalid_argument("wrong number of pairs");
    for (const auto& each : this->samples)
        if (each->count < 0 || each->rows.size() != 2 * static_cast<std::size_t>(each->count) * this->features.size())
            throw std::invalid_argument("wrong number of values");
}

std::unique_ptr<CompiledFile> BorderFile::read(std::string_view text) {
    CompiledText file = read_compiled(
        text, "border", {"fingerprint", "features", "precision", "nr_border", "level", "local"}, {raw_rows_key});
    const OwnKeys& own = file.own;
    if (file.header.regression())
        file.body.fail("a border of type " + file.header.svm_type + " found, expected classes", file.body.at - 1);
    const std::vector<int> counts = own.wholes("nr_border", file.header.pairs());
    const std::vector<double> levels = own.reals("level", file.header.pairs());
    if (std::any_of(counts.begin(), counts.end(), [](int count) { return count < 0; }))
        own.fail("nr_border", "a negative number of border samples found");
    const int local = own.whole("local", 1, most_local);
    const bool single = own.word("precision", {"single", "double"}) == "single";
    std::vector<std::int32_t> features = read_ranges(own.words("features"), text.size());
    const std::int64_t d = static_cast<std::int64_t>(features.size());
    if (!d && std::any_of(counts.begin(), counts.end(), [](int count) { return count > 0; }))
        own.fail("nr_border", "border samples without features found");
    std::vector<std::shared_ptr<const Samples>> samples;
    for (std::size_t pair = 0; pair < counts.size(); ++pair)
        samples.push_back(std::make_shared<const Samples>(
            Samples{levels[pair], counts[pair], file.body.numbers(2 * d * counts[pair], single)}));
    file.body.end("the border samples that nr_border announces");
    return std::make_unique<BorderFile>(std::move(file.header), own.word("fingerprint"), std::move(features),
                                        std::move(samples), local, single, own.folded());
}

void BorderFile::write(std::string& out) const {
    out += "fingerprint " + fingerprint + '\n' + features_line(features) + raw_rows_line(folded) + "precision " +
           (single ? "single" : "double") + "\nnr_border";
    for (const auto& each : samples) (out += ' ') += std::to_string(each->count);
    out += "\nlevel";
    for (const auto& each : samples) (out += ' ') += in_header(each->level);
    out += "\nlocal " + std::to_string(local) + "\nborder\n";
    const std::int64_t d = static_cast<std::int64_t>(features.size());
    for (const auto& each : samples)
        for (std::int64_t line = 0; line < 2 * each->count; ++line)
            add_numbers(out, each->rows.data() + line * d, d, single);
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

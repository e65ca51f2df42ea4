#include "engine/embedded_scaling.h"

#include <algorithm>
#include <cmath>

#include "engine/model_error.h"

namespace fastsvm {

namespace {

std::optional<EmbeddingError> label_error(const Scaling& scaling, bool regression) {
    if (!scaling.scales_labels()) return std::nullopt;
    if (!regression)
        return EmbeddingError{
            "the range file scales y, but this is a classification model: use a range file without y"};
    const Scaling::Line line = scaling.label_line();
    const Scaling::LabelsBack back = scaling.labels_back();
    const double numbers[] = {line.slope, line.offset, back.from, back.scale, back.to};
    if (!std::all_of(std::begin(numbers), std::end(numbers), [](double x) { return std::isfinite(x); }) ||
        line.slope == 0 || back.scale == 0)
        return EmbeddingError{"the range of y has equal ends, or ends too far apart, and cannot be undone"};
    return std::nullopt;
}

}  // namespace

std::optional<EmbeddingError> embedding_error(const Scaling& scaling, const ModelFile* model, const std::string& name) {
    if (auto error = label_error(scaling, model && model->header.regression())) return error;
    if (!model) return std::nullopt;
    if (const std::string why = model->raw_rows(); !why.empty())
        return EmbeddingError{"it takes raw rows, " + why + ": give no --scale", true};
    if (model->serials())
        return EmbeddingError{"a precomputed kernel found, whose rows hold kernel values: no --scale", true};
    for (std::int32_t index : model->used_indices())
        if (!scaling.find(index))
            return EmbeddingError{"support vectors with feature " + std::to_string(index) + " found, which " + name +
                                      " does not hold: expected the file that its training rows were scaled with",
                                  true};
    return std::nullopt;
}

Scaling read_embedded(const std::vector<RangeText>& ranges) {
    Scaling::Read read = Scaling::read(ranges[0].text.data(), ranges[0].text.size());
    if (!read.error.empty()) throw ModelError(read.error, ranges[0].first_line + read.line - 1);
    if (ranges.size() > 1) {
        if (read.scaling.kind() != Scaling::Kind::standard)
            throw ModelError("a range file of svm-scale found, expected the scale file of write.svm",
                             ranges[1].first_line);
        std::int64_t line = 0;
        const std::string error = read.scaling.read_labels(ranges[1].text.data(), ranges[1].text.size(), &line);
        if (!error.empty()) throw ModelError(error, ranges[1].first_line + line - 1);
    }
    return std::move(read.scaling);
}

}  // namespace fastsvm

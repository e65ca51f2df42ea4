#include "engine/model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "text/numbers.h"

namespace fastsvm {

std::shared_ptr<Model> ModelFile::model() const {
    std::call_once(once_, [&] {
        model_ = make_model();
        model_->fingerprint = fingerprint;
        model_->labels_back = labels_back();
    });
    return model_;
}

void ModelFile::embed(EmbeddedRange embedded) {
    embedded_ = std::move(embedded);
    if (model_) model_->labels_back = labels_back();
}

std::optional<Scaling::LabelsBack> ModelFile::labels_back() const {
    if (!embedded_.scaling || !embedded_.scaling->scales_labels()) return std::nullopt;
    return embedded_.scaling->labels_back();
}

std::int64_t ModelFile::max_index() const {
    return std::max<std::int64_t>(own_max_index(), embedded_.scaling ? embedded_.scaling->max_index() : 0);
}

std::int64_t ModelFile::own_max_index() const {
    if (const auto vectors = support_vectors()) return vectors->max_index;
    const std::vector<std::int32_t> used = used_indices();
    return used.empty() ? 0 : used.back();
}

std::int32_t ModelFile::first_index() const {
    const std::vector<std::int32_t> used = used_indices();
    const bool has_0 = (!used.empty() && used.front() == 0) || (embedded_.scaling && embedded_.scaling->names(0));
    return has_0 ? 0 : 1;
}

std::string ModelFile::raw_rows() const {
    if (embedded_.scaling) return "because it embeds a range file";
    return folded ? "because --scale is folded into it" : "";
}

std::string ModelFile::unbounded() const {
    return std::string("a ") + kind() + " model found, which has no expansion to bound: name the exact model";
}

std::string CompiledFile::to_text() const {
    Archive archive(Archive::Work::write);
    archive.written() = first_line(kind(), !embedded().texts.empty()) + header.lines();
    auto& fields = const_cast<CompiledFile&>(*this);  // to write them changes none
    fields.keys(archive);
    archive.record(body_word());
    fields.body(archive);
    std::string out = std::move(archive.written());
    add_checksum(out, embedded().texts);
    return out;
}

void CompiledFile::check() {
    Archive archive(Archive::Work::check);
    keys(archive);
    body(archive);
}

std::size_t bytes_of(const Rows& rows) {
    return static_cast<std::size_t>(rows.values.size()) * sizeof(double) +
           static_cast<std::size_t>(rows.indices.size()) * sizeof(std::int32_t);
}

namespace {

std::optional<EmbeddingError> label_error(const Scaling& scaling, bool regression) {
    const auto line = scaling.label_line();
    if (!line) return std::nullopt;
    if (!regression)
        return EmbeddingError{
            "the range file scales y, but this is a classification model: use a range file without y"};
    const Scaling::LabelsBack back = scaling.labels_back();
    const double numbers[] = {line->slope, line->offset, back.from, back.scale, back.to};
    if (!std::all_of(std::begin(numbers), std::end(numbers), [](double x) { return std::isfinite(x); }) ||
        line->slope == 0 || back.scale == 0)
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
    std::int64_t first_line = ranges[0].first_line;
    try {
        Scaling out = Scaling::read(ranges[0].text);
        if (ranges.size() > 1) {
            first_line = ranges[1].first_line;
            if (out.kind() != Scaling::Kind::standard)
                throw ScalingFileError("a range file of svm-scale found, expected the scale file of write.svm", 1);
            out.read_labels(ranges[1].text);
        }
        return out;
    } catch (const ScalingFileError& error) {
        throw ModelError(error.what(), first_line + error.line - 1);
    }
}

}  // namespace fastsvm

#include "engine/model_file.h"

#include <algorithm>
#include <utility>

#include "engine/checksum.h"

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

}  // namespace fastsvm

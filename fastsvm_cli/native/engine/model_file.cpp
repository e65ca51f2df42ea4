#include "engine/model_file.h"

#include <algorithm>
#include <utility>

#include "engine/checksum.h"
#include "engine/compiled_text.h"
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
    std::string out = first_line(kind(), !embedded().texts.empty()) + header.lines();
    write(out);
    add_checksum(out, embedded().texts);
    return out;
}

std::string raw_rows_line(const std::optional<FoldedScaling>& folded) {
    return folded ? raw_rows_key + ' ' + folded->digest + '\n' : "";
}

std::string features_line(const std::vector<std::int32_t>& features) {
    std::string out = "features";
    for (std::size_t at = 0; at < features.size();) {
        const std::size_t first = at++;
        while (at < features.size() && features[at] == features[at - 1] + 1) ++at;
        (out += ' ') += std::to_string(features[first]);
        if (at > first + 1) (out += ':') += std::to_string(features[at - 1]);
    }
    return out += '\n';
}

void add_numbers(std::string& out, const double* numbers, std::int64_t count, bool single) {
    if (!single)
        out += format_numbers(numbers, static_cast<std::size_t>(count));
    else
        out += format_numbers(std::vector<float>(numbers, numbers + count).data(), static_cast<std::size_t>(count));
}

void add_whole_numbers(std::string& out, const std::vector<std::int64_t>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) (i ? out += ' ' : out) += std::to_string(numbers[i]);
    if (!numbers.empty()) out += '\n';
}

std::size_t bytes_of(const Rows& rows) {
    return static_cast<std::size_t>(rows.values.size()) * sizeof(double) +
           static_cast<std::size_t>(rows.indices.size()) * sizeof(std::int32_t);
}

}  // namespace fastsvm

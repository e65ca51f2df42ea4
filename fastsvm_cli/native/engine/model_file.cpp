#include "engine/model_file.h"

#include <algorithm>

#include "engine/body.h"
#include "engine/checksum.h"
#include "text/number_lines.h"

namespace fastsvm {

std::shared_ptr<Model> ModelFile::model() const {
    std::call_once(once_, [&] {
        model_ = make_model();
        model_->fingerprint = fingerprint;
    });
    return model_;
}

std::int64_t ModelFile::max_index() const {
    const std::vector<std::int32_t> used = used_indices();
    const std::int64_t last = used.empty() ? 0 : used.back();
    const auto vectors = support_vectors();
    return vectors ? std::max<std::int64_t>(vectors->max_index, last) : last;
}

std::string ModelFile::unbounded() const {
    return std::string("a ") + kind() + " model found, which has no expansion to bound: name the exact model";
}

std::string CompiledFile::to_text() const {
    std::string out = first_line(kind(), !carried.texts.empty()) + header.lines();
    write(out);
    seal_compiled(out, carried.texts);
    return out;
}

std::string raw_rows_line(const std::optional<Folded>& folded) {
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

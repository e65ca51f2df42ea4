#include "engine/triangle_file.h"

#include <utility>

#include "engine/model_error.h"
#include "engine/ordered_model.h"

namespace fastsvm {

std::string why_no_triangle(const Kernel& kernel) {
    if (kernel.type == KernelType::precomputed) return without_vectors;
    if (kernel.of_distances() && kernel.gamma >= 0) return "";
    return "a " + name_of(kernel) + " kernel" + (kernel.gamma < 0 ? " with negative gamma" : "") +
           " found, expected one that falls with the distance, rbf or exponential: the triangle inequality says nothing"
           " of others";
}

std::unique_ptr<CompiledFile> TriangleFile::read(std::string_view text) {
    WithExactText read = WithExactText::read(text, {"nr_lists"});
    CompiledText& file = read.file;
    if (const std::string why = why_no_triangle(read.exact->kernel); !why.empty()) throw ModelError(why);
    file.body.record("pivots");
    std::vector<std::int64_t> pivots = file.body.whole_numbers(file.own.whole("nr_lists", 0), file.header.total_sv);
    file.body.end();
    return std::make_unique<TriangleFile>(std::move(read.exact), file.own.word("fingerprint"), std::move(pivots));
}

std::string TriangleFile::ordered_by() const {
    return std::to_string(pivots.size()) + (pivots.size() == 1 ? " list" : " lists") + " by distance";
}

void TriangleFile::write(std::string& out) const {
    write_vectors(out, "nr_lists " + std::to_string(pivots.size()) + '\n');
    out += "pivots\n";
    add_whole_numbers(out, pivots);
}

std::shared_ptr<Model> TriangleFile::make_model() const {
    const auto sums = exact->exact_model();
    return std::make_shared<TriangleModel>(sums, std::make_shared<const Triangle>(sums->svm_model(), pivots));
}

}  // namespace fastsvm

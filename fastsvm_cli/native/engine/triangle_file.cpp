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

void TriangleFile::keys(Archive& archive) {
    OrderedFile::keys(archive);
    archive.size("nr_lists", pivots.size());
}

void TriangleFile::body(Archive& archive) {
    OrderedFile::body(archive);
    if (archive.reads())
        if (const std::string why = why_no_triangle(exact->kernel); !why.empty()) throw ModelError(why);
    archive.record("pivots");
    archive.whole_numbers(pivots, archive.count("nr_lists"), header.total_sv);
    archive.end();
}

std::string TriangleFile::ordered_by() const {
    return std::to_string(pivots.size()) + (pivots.size() == 1 ? " list" : " lists") + " by distance";
}

std::shared_ptr<Model> TriangleFile::make_model() const {
    const auto sums = exact->exact_model();
    return std::make_shared<TriangleModel>(sums, std::make_shared<const Triangle>(sums->svm_model(), pivots));
}

}  // namespace fastsvm

#include "engine/geometry_file.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/model_error.h"
#include "engine/ordered_model.h"

namespace fastsvm {

void GeometryFile::keys(Archive& archive) {
    OrderedFile::keys(archive);
    archive.word("sequence", sequence);
    archive.size("nr_folded", all_vectors ? static_cast<std::size_t>(all_vectors->rows - header.total_sv) : 0);
    archive.size("nr_points", points.size());
}

void GeometryFile::body(Archive& archive) {
    const std::int64_t folded_rows = archive.count("nr_folded"), pairs = header.pairs();
    if (const auto read = vectors(archive, folded_rows)) all_vectors = read;
    if (archive.reads() && !exact->kernel.semidefinite())
        throw ModelError("a " + name_of(exact->kernel) + " kernel found that is not an inner product");
    if (archive.writes()) {
        std::vector<std::int64_t> rest(static_cast<std::size_t>(folded_rows));
        std::iota(rest.begin(), rest.end(), header.total_sv);
        archive.written() += format_rows(select_rows(*all_vectors, rest));
    }
    archive.record("points");
    archive.whole_numbers(points, archive.count("nr_points"), all_vectors->rows);
    const std::size_t start = archive.at();
    archive.numbers(squared_norm, 1, pairs);
    archive.numbers(b_error, 1, pairs);
    const auto negative = [](double x) { return x < 0; };
    if (archive.reads() && (std::any_of(squared_norm.begin(), squared_norm.end(), negative) ||
                            std::any_of(b_error.begin(), b_error.end(), negative)))
        archive.body().fail("a negative number found, expected squared norms and errors", start);
    archive.numbers(b, archive.count("nr_points"), pairs);
    archive.end();
}

std::string GeometryFile::ordered_by() const {
    const auto folded = std::count_if(points.begin(), points.end(), [&](auto at) { return at >= header.total_sv; });
    return std::to_string(points.size()) + " points in " + sequence + " order" +
           (folded ? ", " + std::to_string(folded) + " of them folded" : "");
}

std::shared_ptr<Model> GeometryFile::make_model() const {
    const auto sums = exact->exact_model();
    auto of_points = std::make_shared<const Rows>(select_rows(*all_vectors, points));
    return std::make_shared<GeometryModel>(
        sums, std::make_shared<const Geometry>(sums->svm_model(), std::move(of_points), b, squared_norm, b_error));
}

std::shared_ptr<Model> GeometryFile::stopped_after(std::int64_t steps) const {
    auto out = std::static_pointer_cast<GeometryModel>(model())->stopped_after(steps);
    out->labels_back = model()->labels_back;
    return out;
}

}  // namespace fastsvm

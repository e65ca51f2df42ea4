#include "engine/geometry_file.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "engine/model_error.h"
#include "engine/ordered_model.h"

namespace fastsvm {

GeometryFile::GeometryFile(std::shared_ptr<const LibsvmFile> exact, std::string fingerprint, std::string sequence,
                           std::shared_ptr<const Rows> all_vectors, std::vector<std::int64_t> points, Bounds bounds)
    : OrderedFile(std::move(exact), std::move(fingerprint)),
      sequence(std::move(sequence)),
      all_vectors(std::move(all_vectors)),
      points(std::move(points)),
      bounds(std::move(bounds)) {
    const std::size_t pairs = header.rho.size();
    if (this->bounds.b.size() != this->points.size() * pairs || this->bounds.squared_norm.size() != pairs ||
        this->bounds.b_error.size() != pairs)
        throw std::invalid_argument("wrong number of values");
}

std::unique_ptr<CompiledFile> GeometryFile::read(std::string_view text) {
    WithExactText read = WithExactText::read(text, {"nr_folded", "nr_points", "sequence"});
    CompiledText& file = read.file;
    const Kernel& kernel = read.exact->kernel;
    if (!kernel.semidefinite()) throw ModelError("a " + name_of(kernel) + " kernel found that is not an inner product");
    const int count = file.own.whole("nr_points", 0);
    file.body.record("points");
    std::vector<std::int64_t> points = file.body.whole_numbers(count, read.all_vectors->rows);
    const std::size_t start = file.body.at;
    Bounds bounds;
    bounds.squared_norm = file.body.numbers(file.header.pairs());
    bounds.b_error = file.body.numbers(file.header.pairs());
    const auto negative = [](double x) { return x < 0; };
    if (std::any_of(bounds.squared_norm.begin(), bounds.squared_norm.end(), negative) ||
        std::any_of(bounds.b_error.begin(), bounds.b_error.end(), negative))
        file.body.fail("a negative number found, expected squared norms and errors", start);
    bounds.b = file.body.numbers(count * file.header.pairs());
    file.body.end();
    return std::make_unique<GeometryFile>(std::move(read.exact), file.own.word("fingerprint"),
                                          file.own.word("sequence"), std::move(read.all_vectors), std::move(points),
                                          std::move(bounds));
}

std::string GeometryFile::ordered_by() const {
    const auto folded = std::count_if(points.begin(), points.end(), [&](auto at) { return at >= header.total_sv; });
    return std::to_string(points.size()) + " points in " + sequence + " order" +
           (folded ? ", " + std::to_string(folded) + " of them folded" : "");
}

void GeometryFile::write(std::string& out) const {
    std::vector<std::int64_t> rest(static_cast<std::size_t>(all_vectors->rows - header.total_sv));
    std::iota(rest.begin(), rest.end(), header.total_sv);
    write_vectors(out, "sequence " + sequence + "\nnr_folded " + std::to_string(rest.size()) + "\nnr_points " +
                           std::to_string(points.size()) + '\n');
    out += format_rows(select_rows(*all_vectors, rest)) + "points\n";
    add_whole_numbers(out, points);
    const std::int64_t pairs = header.pairs();
    if (!pairs) return;
    add_numbers(out, bounds.squared_norm.data(), pairs);
    add_numbers(out, bounds.b_error.data(), pairs);
    for (std::size_t point = 0; point < points.size(); ++point)
        add_numbers(out, bounds.b.data() + static_cast<std::int64_t>(point) * pairs, pairs);
}

std::shared_ptr<Model> GeometryFile::make_model() const {
    const auto sums = exact->exact_model();
    auto of_points = std::make_shared<const Rows>(select_rows(*all_vectors, points));
    return std::make_shared<GeometryModel>(
        sums, std::make_shared<const Geometry>(sums->svm_model(), std::move(of_points), bounds.b, bounds.squared_norm,
                                               bounds.b_error));
}

std::shared_ptr<Model> GeometryFile::stopped_after(std::int64_t steps) const {
    auto out = std::static_pointer_cast<GeometryModel>(model())->stopped_after(steps);
    out->labels_back = model()->labels_back;
    return out;
}

}  // namespace fastsvm

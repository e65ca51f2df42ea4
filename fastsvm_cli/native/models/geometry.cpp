#include "models/geometry.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/header.h"
#include "exact/reference/rounding.h"
#include "models/ordered.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t geometry_rows = 32;  // side by side

// Extends the bounds to kernel values with the points; returns that of two points.
double cover_points(Rounding& rounding, const Rows& points) {
    rounding.cover(points);
    double error = 0;
    for (std::int64_t i = 0; i < points.rows; ++i)
        error = std::max(error, rounding.kernel_error(rounding.row(points, i, false)));
    return error;
}

}  // namespace

Geometry::Geometry(SvmModel model, std::shared_ptr<const Rows> points, std::vector<double> b,
                   std::vector<double> squared_norm, std::vector<double> b_error)
    : model_(std::move(model)),
      points_(std::move(points)),
      k_(points_->rows),
      pairs_(model_.pairs()),
      panels_(model_.kernel, *points_, in_order(k_)),
      rounding_(model_, panels_.dense(), false),
      span_(points_, panels_, cover_points(rounding_, *points_),
            {std::move(b), std::move(squared_norm), std::move(b_error)}) {}

struct Geometry::Progress {
    PreparedRow row;
    Rounding::Row rounding;
    double kernel_error;
    double self, root;   // K(z, z) rounded up, and its root
    double squares = 0;  // |y|^2
};

// Before the first point.
void Geometry::begin(const Rows& rows, std::int64_t row, Progress& out) const {
    panels_.take(rows, row, out.row);
    out.squares = 0;
    out.rounding = rounding_.row(rows, row, false);
    out.kernel_error = rounding_.kernel_error(out.rounding);
    const double entries = static_cast<double>(rows.end(row) - rows.begin(row));
    // |z|^2 errs by (q + 1) u, its polynomial by degree times that; squares may have underflowed.
    const double z = length(rows.squared_norms[row], rows.end(row) - rows.begin(row));
    out.self = model_.kernel.self(z * z) * (1 + (std::max(model_.kernel.degree, 1) * (entries + 4) + 8) * unit * 1.01);
    out.root = std::sqrt(out.self) * (1 + 4 * unit);
}

// Value and radius of every pair after k points. projection: (pairs), g.y.
void Geometry::bound(const PointSpan::Prefix& prefix, std::int64_t k, const Progress& row, const double* projection,
                     double* value, double* radius) const {
    // y_error is B15's; then B9 (beside), B8 (distance) and B16.
    const double n = static_cast<double>(k), sums = (n + 8) * unit * 1.01;
    const double y_error = prefix.plain * row.kernel_error + sums * row.root * prefix.reach;
    const double size = std::max(row.self, row.squares);
    const double rest = row.self - row.squares + size * (prefix.skew + sums) + 2 * y_error * std::sqrt(size);
    const double beside = std::isfinite(rest) ? std::sqrt(std::max(0.0, rest)) * (1 + 1e-12) : infinite;
    for (std::int64_t p = 0; p < pairs_; ++p) {
        value[p] = projection[p] - model_.rho[p];
        const double distance =
            prefix.perp[p] * beside + prefix.stray[p] * row.root + prefix.g[p] * (y_error + sums * std::sqrt(size));
        radius[p] = distance * (1 + 1e-9) + rounding_.radius(p, row.rounding, value[p]);
        if (!(radius[p] < infinite)) value[p] = 0, radius[p] = infinite;  // NaN proves nothing
    }
}

struct Geometry::Block {
    Block(std::int64_t pairs, std::int64_t points)
        : rows(geometry_rows),
          kernel_values(geometry_rows, Aligned<double>(static_cast<std::size_t>(points))),
          y(4, std::vector<double>(panel)),
          projection(geometry_rows, std::vector<double>(static_cast<std::size_t>(pairs))),
          radius(static_cast<std::size_t>(pairs)) {}
    std::vector<Progress> rows;
    std::vector<Aligned<double>> kernel_values;   // (geometry_rows, points)
    std::vector<std::vector<double>> y;           // (4, panel)
    std::vector<std::vector<double>> projection;  // (geometry_rows, pairs)
    std::vector<double> scratch, radius;
    std::vector<std::int64_t> active;
};

Geometry::~Geometry() = default;

std::vector<std::int64_t> Geometry::decision_values(const Rows& rows, const Task& task, double tolerance,
                                                    std::int64_t steps, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t last_point = steps > 0 ? std::min(steps, k_) : k_;
    PointSpan::Prefix partial;  // at last_point, if that is within a panel
    if (last_point % panel && last_point != k_) {
        span_.prepare(groups(last_point, panel));
        partial = span_.prefix(last_point);
    }
    const auto flags = task.flags.lease();
    std::vector<char>& open = *flags;
    open.assign(static_cast<std::size_t>(rows.rows), 0);
    parallel_for(rows.rows, 4 * geometry_rows, [&](std::int64_t first, std::int64_t last) {
        const auto leased = blocks_.lease([this] { return std::make_unique<Block>(pairs_, panels_.size()); });
        Block& block = *leased;
        const auto task_scratch = task.task_scratch();
        DecisionTest& decided = task_scratch->decided;
        decided.within(tolerance);
        for (; first < last; first += geometry_rows) {
            const std::int64_t count = std::min(last - first, geometry_rows);
            block.active.resize(static_cast<std::size_t>(count));
            std::iota(block.active.begin(), block.active.end(), 0);
            for (std::int64_t j = 0; j < count; ++j) {
                begin(rows, first + j, block.rows[j]);
                std::fill(block.projection[j].begin(), block.projection[j].end(), 0.0);
                double* const value = out.value.data() + (first + j) * pairs_;
                for (std::int64_t p = 0; p < pairs_; ++p) value[p] = -model_.rho[p];
                if (out.with_radius) std::fill_n(out.radius.data() + (first + j) * pairs_, pairs_, infinite);
            }
            for (std::int64_t from = 0; from < last_point && !block.active.empty(); from += panel) {
                const std::int64_t end = std::min(last_point, from + panel);
                span_.prepare(from / panel + 1);
                const PointSpan::Prefix& prefix =
                    end == last_point && !partial.perp.empty() ? partial : span_.at_end_of(from / panel);
                meet_points(from, end, end == last_point, prefix, first, decided, block, out);
            }
            for (std::int64_t j : block.active) open[first + j] = 1;
        }
    });
    return flagged_rows(open);
}

// Removes the active rows that the points from..end decide, of one panel. final: rows keep these values. first: row
// number of the block's first row.
void Geometry::meet_points(std::int64_t from, std::int64_t end, bool final, const PointSpan::Prefix& prefix,
                           std::int64_t first, DecisionTest& decided, Block& block, Decisions& out) const {
    const Loops& k = loops();
    const double tolerance = decided.tolerance();
    for (std::int64_t j : block.active) {
        panels_.kernel_values(block.rows[j].row, from, from + panel, block.kernel_values[j].data() + from,
                              block.scratch);
        out.evaluations[first + j] = end;
    }
    std::size_t still_active = 0;
    for (std::size_t at = 0; at < block.active.size(); at += 4) {
        const std::size_t group = std::min<std::size_t>(4, block.active.size() - at);
        const double* x[4];
        double* y[4];
        for (std::size_t i = 0; i < 4; ++i) {
            x[i] = block.kernel_values[block.active[at + std::min(i, group - 1)]].data();
            y[i] = block.y[i].data();
        }
        k.panel_products(span_.x(from / panel), from + panel, x, y);
        for (std::size_t i = 0; i < group; ++i) {
            const std::int64_t j = block.active[at + i], r = first + j;
            Progress& row = block.rows[j];
            double* const projection = block.projection[j].data();
            if (pairs_ == 1)
                projection[0] += k.dot(end - from, y[i], span_.g(from));
            else
                for (std::int64_t s = 0; s < end - from; ++s)
                    k.add_scaled(pairs_, y[i][s], span_.g(from + s), projection);
            row.squares += k.dot(end - from, y[i], y[i]);
            // Whether the interval, without `bound`'s errors, may decide the answer.
            const double rest = row.self - row.squares;
            const bool may_decide = decided.regression()
                                        ? tolerance * tolerance >= prefix.widths[0] * rest
                                        : k.certain_sums(pairs_, model_.rho.data(), prefix.widths.data(), rest,
                                                         projection) >= decided.least_certain();
            if (final || may_decide) {
                double* const value = out.value.data() + r * pairs_;
                double* const radius = out.with_radius ? out.radius.data() + r * pairs_ : block.radius.data();
                bound(prefix, end, row, projection, value, radius);
                if (decided(value, radius)) continue;
            }
            block.active[still_active++] = j;
        }
    }
    block.active.resize(still_active);
}

namespace {

// A geometry model of `steps` points: interval midpoints as values, half widths as radii. Open labels may differ from
// svm-predict's.
class StoppedGeometry : public Model {
public:
    StoppedGeometry(Header header, std::shared_ptr<const Geometry> points, std::int64_t steps)
        : Model(std::move(header)), points_(std::move(points)), steps_(steps) {
        certified = ordered = true;
    }
    void decision_values(const Rows& rows, const Precision&, Decisions& out) const override {
        points_->decision_values(rows, task, 0, steps_, out);
    }

private:
    const std::shared_ptr<const Geometry> points_;
    const std::int64_t steps_;
};

class GeometryModel : public OrderedModel {
public:
    GeometryModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const Geometry> points)
        : OrderedModel(std::move(exact)), points_(std::move(points)) {}
    std::shared_ptr<Model> stopped_after(std::int64_t steps) const {
        return std::make_shared<StoppedGeometry>(header, points_, steps);
    }
    std::vector<std::int64_t> decide(const Rows& rows, const Task& of, double tolerance, std::int64_t steps,
                                     Decisions& out) const override {
        return points_->decision_values(rows, of, tolerance, steps, out);
    }

private:
    const std::shared_ptr<const Geometry> points_;
};

}  // namespace

void GeometryFile::keys(Archive& archive) {
    OrderedFile::keys(archive);
    archive.field("sequence", sequence);
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

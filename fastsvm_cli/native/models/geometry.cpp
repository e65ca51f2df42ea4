#include "models/geometry.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/header.h"
#include "exact/reference/rounding.h"
#include "models/ordered.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t geometry_rows = 32;
// With more, checks cost more than the points they save.
constexpr std::int64_t few_pairs = 4;

// First points, after some of which rows are checked; a failed check costs little. Four points at once cost half of
// four single ones, which matters for kernel values with many products.
constexpr std::int64_t first_points = 2 * panel, few_features = 16, very_few_features = 4;
// Rows that fit the first-level cache.
std::int64_t rows_side_by_side(std::int64_t features) { return features <= few_features ? 4 * panel : panel; }
std::vector<std::int64_t> stops(std::int64_t features) {
    if (features <= very_few_features) return {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64};
    if (features <= few_features) return {1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64};
    return {4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64};
}

// Extends the bounds to kernel values with the points; returns that of two points.
double cover_points(Rounding& rounding, const Rows& points) {
    rounding.cover(points);
    double error = 0;
    for (std::int64_t i = 0; i < points.rows; ++i)
        error = std::max(error, rounding.kernel_error(rounding.row(points, i, false)));
    return error;
}

// A geometry model of `steps` points: interval midpoints as values, half widths as radii. Open labels may differ from
// svm-predict's.
class StoppedGeometry : public Model {
public:
    StoppedGeometry(Header header, std::shared_ptr<const EarlyStop> points, std::int64_t steps)
        : Model(std::move(header)), points_(std::move(points)), steps_(steps) {
        certified = ordered = true;
    }
    void decision_values(const Rows& rows, const Precision&, Decisions& out) const override {
        points_->decision_values(rows, task, 0, steps_, out);
    }

private:
    const std::shared_ptr<const EarlyStop> points_;
    const std::int64_t steps_;
};

}  // namespace

Geometry::Geometry(SvmModel model, std::shared_ptr<const Rows> points, std::vector<double> b,
                   std::vector<double> squared_norm, std::vector<double> b_error)
    : model_(std::move(model)),
      points_(std::move(points)),
      k_(points_->rows),
      pairs_(model_.pairs()),
      panels_(model_.kernel, *points_, in_order(k_)),
      rounding_(model_, panels_.dense(), false),
      first_stops_(stops(panels_.features())),
      span_(points_, panels_, cover_points(rounding_, *points_),
            {std::move(b), std::move(squared_norm), std::move(b_error)}, first_stops_) {
    first_.resize(static_cast<std::size_t>(std::min<std::int64_t>(k_, first_points)));
    for (std::size_t i = 0; i < first_.size(); ++i) panels_.take(*points_, static_cast<std::int64_t>(i), first_[i]);
}

struct Geometry::Progress {
    PreparedRow row;
    Rounding::Row rounding;
    double kernel_error;
    double self, root;   // K(z, z) rounded up, and its root
    double squares = 0;  // |y|^2
};

// Sets all but `row` and `squares`.
void Geometry::begin(const Rows& rows, std::int64_t row, Progress& out) const {
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

struct Geometry::Start : RowSlots {
    Start(const Panels& points, std::int64_t pairs, std::int64_t slots)
        : RowSlots(points, pairs, slots),
          kernel_values(static_cast<std::size_t>(slots * first_points)),
          y(static_cast<std::size_t>(slots * 4)),
          self(static_cast<std::size_t>(slots)),
          squares(self),
          rest(self),
          count(self) {}
    Aligned<double> kernel_values;  // (panels of rows, points, panel)
    Aligned<double> y;              // (panels of rows, four points, panel)
    Aligned<double> self, squares, rest, count;
    Progress progress;

    double* kernel_values_of(std::int64_t slot) {
        return kernel_values.data() + slot / panel * first_points * panel + slot % panel;
    }
    void remove(std::int64_t slot, std::int64_t points) {
        const std::int64_t last = RowSlots::remove(slot);
        self[slot] = self[last];
        squares[slot] = squares[last];
        for (std::int64_t t = 0; t < points; ++t) kernel_values_of(slot)[t * panel] = kernel_values_of(last)[t * panel];
    }
};

// Slots whose interval, without `bound`'s errors, may decide the answer.
void Geometry::look_at(const PointSpan::Prefix& prefix, const DecisionTest& decided, Start& start) const {
    const std::int64_t size = start.rows.size(), n = whole(size, lanes);
    for (std::int64_t s = 0; s < n; ++s) start.rest[s] = start.self[s] - start.squares[s];
    std::fill_n(start.count.begin(), n, 0.0);
    if (decided.regression())
        for (std::int64_t s = 0; s < n; ++s)
            start.count[s] = decided.tolerance() * decided.tolerance() >= prefix.widths[0] * start.rest[s];
    else
        for (std::int64_t p = 0; p < pairs_; ++p)
            loops().count_certain(n, model_.rho[p], prefix.widths[p], start.rest.data(),
                                  start.sums.data() + p * start.slots, start.count.data());
    start.looked.clear();
    for (std::int64_t s = 0; s < size; ++s)
        if (start.count[s] >= static_cast<double>(decided.least_certain())) start.looked.push_back(s);
}

// Leaves the rows that these points do not decide in `start`.
void Geometry::meet_first_points(const Rows& rows, std::int64_t first, std::int64_t stop, DecisionTest& decided,
                                 Decisions& out, Start& start) const {
    const Loops& k = loops();
    start.rows.clear(rows);
    for (std::int64_t r = first; r < stop; ++r) {
        start.rows.add(r);
        start.self[r - first] = model_.kernel.self(rows.squared_norms[r]);
        start.squares[r - first] = 0;
    }
    std::fill(start.sums.begin(), start.sums.end(), 0.0);
    const std::int64_t points = static_cast<std::int64_t>(first_.size());
    std::size_t next = 0;  // index in first_stops_
    for (std::int64_t met = 0; met < points && start.rows.size();) {
        if (met % panel == 0) span_.prepare(met / panel + 1);
        const std::int64_t apart = std::min(points, first_stops_[next]) - met, size = start.rows.size();
        const int now = RowsInPanels::together(apart);  // all in one panel, whose end is a stop
        RowsInPanels::Vectors points_now;
        points_now.stride = panel;
        const double* x[4];
        for (int i = 0; i < now; ++i) {
            points_now.add(&first_[met + i], panels_.dense() ? panels_.columns_from(met + i) : nullptr);
            x[i] = span_.x(met / panel) + met % panel + i;
        }
        start.rows.kernel_values(points_now, start.kernel_values.data() + met * panel, first_points * panel);
        for (std::int64_t at = 0; at < size; at += panel) {
            const std::int64_t n = std::min<std::int64_t>(panel, (size - at + lanes - 1) / lanes * lanes);
            double* const y = start.y.data() + at * 4;
            k.tile_dots(now, n, met + now, start.kernel_values.data() + at * first_points, x, panel, y);
            for (int i = 0; i < now; ++i) {
                for (std::int64_t s = 0; s < n; ++s) start.squares[at + s] += y[i * panel + s] * y[i * panel + s];
                for (std::int64_t p = 0; p < pairs_; ++p)
                    k.add_scaled(n, span_.g(met + i)[p], y + i * panel, start.sums.data() + p * start.slots + at);
            }
        }
        met += now;
        if (met < first_stops_[next] && met < points) continue;
        const PointSpan::Prefix& prefix = span_.at_stop(next++);
        if (met < k_) {
            look_at(prefix, decided, start);
        } else {
            // Open rows keep this value and radius.
            start.look_at_all();
        }
        // Last slot first: the last row moves into a removed one's slot.
        for (auto slot = start.looked.rbegin(); slot != start.looked.rend(); ++slot) {
            const std::int64_t r = start.rows.row(*slot);
            begin(rows, r, start.progress);
            start.progress.squares = start.squares[*slot];
            start.gather(*slot, start.sum.data());
            double* const value = out.value.data() + r * pairs_;
            double* const radius = out.with_radius ? out.radius.data() + r * pairs_ : start.radius.data();
            bound(prefix, met, start.progress, start.sum.data(), value, radius);
            if (!decided(value, radius)) continue;
            out.evaluations[r] = met;
            start.remove(*slot, met);
        }
    }
    for (std::int64_t s = 0; s < start.rows.size(); ++s) out.evaluations[start.rows.row(s)] = points;
}

struct Geometry::Block {
    std::vector<Progress> rows;
    std::vector<std::int64_t> index;  // row numbers
    Aligned<double> kernel_values;    // (geometry_rows, points)
    Aligned<double> y;                // (4, panel)
    std::vector<double> projection;   // (geometry_rows, pairs)
    std::vector<double> scratch, radius;
    std::vector<std::int64_t> active;
};

Geometry::~Geometry() = default;

std::vector<std::int64_t> Geometry::decision_values(const Rows& rows, const Task& task, double tolerance,
                                                    std::int64_t steps, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t last_point = steps > 0 ? std::min(steps, k_) : k_;
    const std::int64_t blocks = groups(last_point, panel);
    const Loops& k = loops();
    PointSpan::Prefix partial;  // at last_point, if that is within a block
    if (last_point && last_point != std::min(k_, blocks * panel)) {
        span_.prepare(blocks);
        partial = span_.prefix(last_point);
    }
    // Points that rows meet a few at a time.
    const std::int64_t met = steps > 0 || pairs_ > few_pairs ? 0 : std::min<std::int64_t>(k_, first_points);
    const auto flags = task.flags.lease();
    std::vector<char>& open = *flags;
    open.assign(static_cast<std::size_t>(rows.rows), 0);
    const std::int64_t together = met ? rows_side_by_side(panels_.features()) : geometry_rows;
    parallel_for(rows.rows, 4 * together, [&](std::int64_t first, std::int64_t last) {
        const auto leased = blocks_.lease();
        Block& block = *leased;
        const auto task_scratch = task.task_scratch();
        DecisionTest& decided = task_scratch->decided;
        decided.within(tolerance);
        block.rows.resize(geometry_rows);
        block.index.resize(geometry_rows);
        block.kernel_values.resize(static_cast<std::size_t>(geometry_rows * blocks * panel));
        block.y.resize(4 * panel);
        block.projection.resize(static_cast<std::size_t>(geometry_rows * pairs_));
        block.radius.resize(static_cast<std::size_t>(pairs_));
        const auto started = starts_.lease(
            [&] { return std::make_unique<Start>(panels_, pairs_, rows_side_by_side(panels_.features())); });
        Start& start = *started;
        const auto values_of = [&](std::int64_t j) { return block.kernel_values.data() + j * blocks * panel; };
        // Continues the block's rows from block `from` of points on.
        const auto go_on = [&](std::int64_t from) {
            for (std::int64_t b = from; b < blocks && !block.active.empty(); ++b) {
                span_.prepare(b + 1);
                const std::int64_t end = std::min(last_point, (b + 1) * panel), here = end - b * panel;
                const PointSpan::Prefix& prefix =
                    end == last_point && !partial.perp.empty() ? partial : span_.at_end_of(b);
                for (std::int64_t j : block.active) {
                    panels_.kernel_values(block.rows[j].row, b * panel, (b + 1) * panel, values_of(j) + b * panel,
                                          block.scratch);
                    out.evaluations[block.index[j]] = end;
                }
                std::size_t still_active = 0;
                for (std::size_t at = 0; at < block.active.size(); at += 4) {
                    const std::size_t group = std::min<std::size_t>(4, block.active.size() - at);
                    const double* x[4];
                    double* y[4];
                    for (std::size_t i = 0; i < 4; ++i) {
                        x[i] = values_of(block.active[at + std::min(i, group - 1)]);
                        y[i] = block.y.data() + i * panel;
                    }
                    k.panel_products(span_.x(b), (b + 1) * panel, x, y);
                    for (std::size_t i = 0; i < group; ++i) {
                        const std::int64_t j = block.active[at + i], r = block.index[j];
                        Progress& row = block.rows[j];
                        double* const projection = block.projection.data() + j * pairs_;
                        if (pairs_ == 1)
                            projection[0] += k.dot(here, y[i], span_.g(b * panel));
                        else
                            for (std::int64_t s = 0; s < here; ++s)
                                k.add_scaled(pairs_, y[i][s], span_.g(b * panel + s), projection);
                        row.squares += k.dot(here, y[i], y[i]);
                        const double rest = row.self - row.squares;
                        if (end < last_point &&
                            (decided.regression() ? !(tolerance * tolerance >= prefix.widths[0] * rest)
                                                  : k.certain_sums(pairs_, model_.rho.data(), prefix.widths.data(),
                                                                   rest, projection) < decided.least_certain())) {
                            block.active[still_active++] = j;
                            continue;
                        }
                        double* const value = out.value.data() + r * pairs_;
                        double* const radius = out.with_radius ? out.radius.data() + r * pairs_ : block.radius.data();
                        bound(prefix, end, row, projection, value, radius);
                        if (!decided(value, radius)) block.active[still_active++] = j;
                    }
                }
                block.active.resize(still_active);
            }
            for (std::int64_t j : block.active) open[block.index[j]] = 1;
        };
        for (; first < last; first += together) {
            const std::int64_t stop = std::min(last, first + together);
            begin_rows(model_.rho, first, stop, out);
            if (met) meet_first_points(rows, first, stop, decided, out, start);
            const std::int64_t left = met ? start.rows.size() : stop - first;
            for (std::int64_t from = 0; from < left; from += geometry_rows) {
                block.active.clear();
                for (std::int64_t s = from; s < std::min(left, from + geometry_rows); ++s) {
                    const std::int64_t j = s - from, r = block.index[j] = met ? start.rows.row(s) : first + s;
                    Progress& row = block.rows[j];
                    panels_.take(rows, r, row.row);
                    begin(rows, r, row);
                    row.squares = met ? start.squares[s] : 0;
                    double* const projection = block.projection.data() + j * pairs_;
                    if (met)
                        start.gather(s, projection);
                    else
                        std::fill_n(projection, pairs_, 0.0);
                    for (std::int64_t t = 0; t < met; ++t) values_of(j)[t] = start.kernel_values_of(s)[t * panel];
                    block.active.push_back(j);
                }
                go_on(groups(met, panel));
            }
        }
    });
    return flagged_rows(open);
}

void GeometryFile::keys(Archive& archive) {
    OrderedFile::keys(archive);
    archive.field("sequence", sequence);
    archive.size("nr_folded", all_vectors ? static_cast<std::size_t>(all_vectors->rows - header.total_sv) : 0);
    archive.size("nr_points", points.size());
}

void GeometryFile::body(Archive& archive) {
    const std::int64_t folded_rows = archive.count("nr_folded"), pairs = header.pairs();
    if (const auto read = vectors(archive, folded_rows)) all_vectors = read;
    if (!exact->kernel.semidefinite())
        throw ModelError("a " + name_of(exact->kernel) + " kernel found that is not an inner product");
    if (archive.writes())
        archive.written() += format_rows(slice_rows(*all_vectors, header.total_sv, all_vectors->rows));
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
    return std::make_shared<OrderedModel>(
        sums, std::make_shared<const Geometry>(sums->svm_model(), std::move(of_points), b, squared_norm, b_error));
}

std::shared_ptr<Model> GeometryFile::stopped_after(std::int64_t steps) const {
    const auto whole = std::static_pointer_cast<OrderedModel>(model());
    auto out = std::make_shared<StoppedGeometry>(header, whole->early, steps);
    out->labels_back = whole->labels_back;
    return out;
}

}  // namespace fastsvm

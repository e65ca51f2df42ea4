#include "exact/exact.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "exact/escalation.h"
#include "exact/values/panels.h"
#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

// Fewer than `block_rows` if some threads would get no rows.
std::int64_t rows_per_block(std::int64_t rows) {
    return std::clamp<std::int64_t>((rows + get_threads() - 1) / get_threads(), 1, block_rows);
}

// Maximum of features times pairs of a folded linear model, or 4 times its entries if more.
constexpr double folded_max = 4e6;

constexpr std::int64_t odds_trial_rows = 16;

bool of_one_sign_by_class(const SvmModel& model) {
    const std::int64_t columns = model.vectors->leading_count;
    const double* coef = model.vectors->leading.data();
    for (std::int64_t n : model.nr_sv) {
        for (std::int64_t j = 0; j < columns; ++j) {
            bool above = false, below = false;
            for (std::int64_t i = 0; i < n; ++i) {
                above |= coef[i * columns + j] > 0;
                below |= coef[i * columns + j] < 0;
            }
            if (above && below) return false;
        }
        coef += n * columns;
    }
    return true;
}

// For labels, several balance uneven ones.
constexpr std::int64_t shares_per_thread = 4;
}  // namespace

Exact::~Exact() = default;

Pool<Exact::Block>::Lease Exact::block() const {
    return blocks_.lease([this] { return std::make_unique<Block>(model_); });
}

Exact::Exact(SvmModel model) : model_(std::move(model)), features_(used_indices(*model_.vectors)) {
    const double entries = static_cast<double>(model_.vectors->indices.size());
    if (model_.kernel.type == KernelType::linear &&
        static_cast<double>(model_.pairs()) * static_cast<double>(features_.size()) <=
            std::max(4 * entries, folded_max))
        fold_linear();
    else if (model_.kernel.type != KernelType::precomputed)
        place_vectors();
    rounding_.emplace(model_, in_panels_ && dense(*model_.vectors, features_.size()), linear_);
}

void Exact::fold_linear() {
    linear_ = true;
    const Rows& sv = *model_.vectors;
    const std::int64_t pairs = model_.pairs();
    weights_.assign(static_cast<std::size_t>(features_.size() * pairs), 0.0);
    std::int64_t i = 0;
    for (std::int64_t c = 0; c < model_.classes(); ++c)
        for (std::int64_t k = 0; k < model_.nr_sv[c]; ++k, ++i)
            for (std::int64_t e = sv.begin(i); e < sv.end(i); ++e) {
                double* const w = weights_.data() + features_.column(sv.indices[e]) * pairs;
                for_each_pair(model_, c, [&](std::int64_t pair, std::int64_t column) {
                    w[pair] += sv.leading[i * sv.leading_count + column] * sv.values[e];
                });
            }
}

void Exact::place_vectors() {
    const Rows& sv = *model_.vectors;
    for (std::int64_t n : model_.nr_sv) padded_ += whole(n, panel);
    const bool gaps =
        model_.classes() <= 2 || 2 * padded_ <= 3 * sv.rows;  // classes of few vectors would be mostly padding
    class_start_.push_back(0);
    for (std::int64_t n : model_.nr_sv) class_start_.push_back(class_start_.back() + (gaps ? whole(n, panel) : n));
    padded_ = whole(class_start_.back(), panel);
    order_.assign(static_cast<std::size_t>(padded_), -1);
    std::int64_t i = 0;
    for (std::size_t c = 0; c < model_.nr_sv.size(); ++c)
        for (std::int64_t k = 0; k < model_.nr_sv[c]; ++k) order_[class_start_[c] + k] = i++;
    one_signed_ = model_.pairs() >= 1 && of_one_sign_by_class(model_);
    in_panels_ = dense(sv, features_.size()) || model_.kernel.by_differences() || model_.kernel.normalized();
}

const Exact::Layout& Exact::layout() const {
    std::call_once(laid_out_, [this] {
        const Rows& sv = *model_.vectors;
        auto made = std::make_unique<Layout>();
        made->coef.assign(static_cast<std::size_t>(padded_ * sv.leading_count), 0.0);
        for (std::int64_t s = 0; s < padded_; ++s)
            for (int j = 0; order_[s] >= 0 && j < sv.leading_count; ++j)
                made->coef[j * padded_ + s] = sv.leading[order_[s] * sv.leading_count + j];
        if (in_panels_)
            made->panels.emplace(model_.kernel, sv, order_);
        else
            made->lists.emplace(model_.kernel, sv, features_, order_);
        layout_ = std::move(made);
    });
    return *layout_;
}

const Escalation& Exact::escalation() const {
    std::call_once(escalation_made_,
                   [this] { escalation_ = std::make_unique<Escalation>(model_, *rounding_, features_, in_panels_); });
    return *escalation_;
}

// Calls visit(c, from, to) for runs of padded support vectors of one class.
template <class Visit> void Exact::for_each_run(std::int64_t from, std::int64_t to, Visit visit) const {
    to = std::min(to, class_start_.back());
    std::int64_t c = std::upper_bound(class_start_.begin(), class_start_.end(), from) - class_start_.begin() - 1;
    for (; from < to; ++c) {
        const std::int64_t stop = std::min(to, class_start_[c + 1]);
        if (stop > from) visit(c, from, stop);
        from = stop;
    }
}

void Exact::accumulate(std::int64_t from, std::int64_t to, const double* kernel_values, double* value,
                       RowSize* sizes) const {
    const double* const coef = layout().coef.data();
    for_each_run(from, to, [&](std::int64_t c, std::int64_t first, std::int64_t last) {
        for_each_pair(model_, c, [&](std::int64_t pair, std::int64_t column) {
            const double sum =
                loops().dot(last - first, coef + column * padded_ + first, kernel_values + (first - from));
            if (sizes) sizes[pair].add(last - first, value[pair], sum);
            value[pair] += sum;
        });
    });
}

// For one pair, and the block's rows in panels.
void Exact::accumulate_row_panels(std::int64_t from, std::int64_t to, Block& block, double* value) const {
    for_each_run(from, to, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        layout().panels->row_panel_sums(block.rows, first, last, layout().coef.data() + first, block.sums.data());
        for (std::size_t i = 0; i < block.rows.in_row_panels.size(); ++i) {
            const std::int64_t r = block.rows.in_row_panels[i];
            if (!block.sizes.empty()) block.sizes[r].add(last - first, value[r], block.sums[i]);
            value[r] += block.sums[i];
        }
    });
}

void Exact::take_rows(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const {
    if (in_panels_) return layout().panels->take(rows, which, n, block.rows);
    if (static_cast<std::int64_t>(block.columns.size()) < n) block.columns.resize(static_cast<std::size_t>(n));
    for (std::int64_t r = 0; r < n; ++r) block.columns[r].take(features_, rows, which[r]);
}

void Exact::evaluate(const Rows& rows, const std::int64_t* which, std::int64_t n, bool sized, Block& block,
                     double* value) const {
    const std::int64_t pairs = model_.pairs();
    std::fill_n(value, n * pairs, 0.0);
    block.sizes.assign(static_cast<std::size_t>(sized ? n * pairs : 0), RowSize{});
    const auto sizes = [&](std::int64_t r) { return sized ? block.sizes.data() + r * pairs : nullptr; };
    take_rows(rows, which, n, block);
    if (in_panels_) {
        const Panels& panels = *layout().panels;
        const bool summed = pairs == 1 && panels.sums_in_row_panels();
        const std::int64_t tile = vectors_per_tile(features_.size());
        block.kernel_values.resize(static_cast<std::size_t>(summed ? tile : n * tile));
        block.sums.resize(static_cast<std::size_t>(n));
        for (std::int64_t from = 0; from < padded_; from += tile) {
            const std::int64_t to = std::min(padded_, from + tile);
            if (summed) {
                accumulate_row_panels(from, to, block, value);
            } else {
                panels.row_panel_kernel_values(block.rows, from, to, block.kernel_values.data(), tile);
                for (std::int64_t r : block.rows.in_row_panels)
                    accumulate(from, to, block.kernel_values.data() + r * tile, value + r * pairs, sizes(r));
            }
            for (std::int64_t r : block.rows.by_entry) {
                panels.kernel_values(block.rows.rows[r], from, to, block.kernel_values.data(), block.scratch);
                accumulate(from, to, block.kernel_values.data(), value + r * pairs, sizes(r));
            }
        }
        return;
    }
    if (linear_) {
        for (std::int64_t r = 0; r < n; ++r)
            for (std::int64_t e = 0; e < block.columns[r].count(); ++e)
                loops().add_scaled(pairs, block.columns[r].value[e],
                                   weights_.data() + block.columns[r].column[e] * pairs, value + r * pairs);
        return;
    }
    block.kernel_values.resize(static_cast<std::size_t>(padded_));
    for (std::int64_t r = 0; r < n; ++r) {
        layout().lists->kernel_values(block.columns[r], rows.squared_norms[which[r]], block.kernel_values.data());
        accumulate(0, padded_, block.kernel_values.data(), value + r * pairs, sizes(r));
    }
}

// Reference sums. Several rows are summed side by side; for a row alone, the vectors of a panel.
void Exact::reference(const Rows& rows, const std::int64_t* which, std::int64_t count, Block& block,
                      double* value) const {
    static_assert(panel == wide_group, "a panel takes the place of a group of rows");
    const Kernel& kernel = model_.kernel;
    if (count != 1 || !rows.increasing || !in_panels_ || kernel.normalized() || !layout().panels->dense())
        return reference_sums(model_, rows, which, count, value);
    const ReferenceLoops& loop = *loops().wide_reference;
    const std::int64_t begin = rows.begin(which[0]);
    const LaneEntries row{rows.indices.data() + begin, rows.values.data() + begin, rows.end(which[0]) - begin};
    block.kernel_values.resize(static_cast<std::size_t>(padded_));
    double* const values = block.kernel_values.data();
    for (std::int64_t s = 0; s < padded_; s += panel) {
        const LaneEntries vectors{features_.indices().data(), layout().panels->columns_from(s), features_.size()};
        (kernel.of_distances() ? loop.squared_distances : loop.dots)(vectors, row, values + s);
    }
    reference_kernel_from(kernel, 1, padded_, padded_, values);
    reference_terms(model_, values, class_start_.data(), value);
}

double Exact::least_radius(std::int64_t pair, const Rounding::Row& rounding, double value, const RowSize* sizes) const {
    const double radius = rounding_->radius(pair, rounding, value);
    return sizes ? std::min(radius, rounding_->radius_by_size(pair, rounding, value, sizes[pair])) : radius;
}

void Exact::fast_values(const Rows& rows, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t pairs = model_.pairs();
    const std::int64_t grain = rows_per_block(rows.rows);
    const bool sized = one_signed_ && pairs == 1;
    parallel_for(rows.rows, grain, [&](std::int64_t first, std::int64_t last) {
        const auto leased = this->block();
        Block& block = *leased;
        for (; first < last; first += grain) {
            const std::int64_t stop = std::min(last, first + grain);
            double* value = out.value.data() + first * pairs;
            evaluate(rows, block.numbers(first, stop), stop - first, sized, block, value);
            for (std::int64_t r = first; r < stop; ++r) {
                const Rounding::Row rounding = rounding_->row(rows, r, false);
                for (std::int64_t p = 0; p < pairs; ++p, ++value) {
                    *value -= model_.rho[p];
                    if (out.with_radius)
                        out.radius[r * pairs + p] = least_radius(p, rounding, *value, block.sizes_of(r - first, pairs));
                }
            }
        }
    });
}

// Whether probabilities print as svm-predict's. value: less rho.
bool Exact::prints_alike(Coupling& coupling, const Rounding::Row& rounding, const double* value, const RowSize* sizes,
                         std::vector<double>& radii) const {
    const std::int64_t pairs = model_.pairs();
    radii.resize(static_cast<std::size_t>(pairs));
    // Radii by size cost a logarithm per pair; few rows of many pairs need them.
    const auto decided = [&](const RowSize* known) {
        for (std::int64_t p = 0; p < pairs; ++p)
            radii[static_cast<std::size_t>(p)] = least_radius(p, rounding, value[p], known);
        return coupling.decided(value, radii.data());
    };
    return (pairs > 1 && decided(nullptr)) || ((pairs == 1 || sizes) && decided(sizes));
}

// Share of the reference sum's time that level 3 and a proof save on probabilities; half if the table lacks the costs.
double Exact::share_saved_by_double() const {
    const double n = static_cast<double>(model_.total_sv()), d = static_cast<double>(features_.size());
    const double entries = static_cast<double>(model_.vectors->indices.size());
    if (model_.pairs() == 1 || !in_panels_ || model_.kernel.by_differences() ||
        !in_tiles(entries / n, features_.size()))
        return 0.5;
    const LevelCosts& costs = level_costs();
    const double classes = static_cast<double>(model_.classes());
    return 1 - (n * costs.several.of(d) + classes * costs.proof.of(classes)) / (n * costs.reference.of(d));
}

bool Exact::odds_at_once(const Odds& odds) const {
    std::call_once(odds_tried_, [&] {
        const Rows& sv = *model_.vectors;
        const double saved = share_saved_by_double();
        if (model_.kernel.type == KernelType::precomputed || !(saved > 0)) {
            odds_at_once_ = true;
            return;
        }
        const std::int64_t count = std::min(sv.rows, odds_trial_rows);
        double steepest = 0;
        for (double a : odds.a) steepest = std::max(steepest, std::fabs(a));
        // Printed probabilities differ by at least 1e-6 of themselves: far smaller radii need no trial.
        if (!count || rounding_->radius_of_any(rounding_->row(sv, 0, false), model_.rho[0]) * steepest < 1e-7) return;
        std::vector<std::int64_t> which;
        for (std::int64_t i = 0; i < count; ++i) which.push_back(i * sv.rows / count);
        const std::int64_t pairs = model_.pairs();
        const auto leased = this->block();
        Block& block = *leased;
        std::vector<double> value(static_cast<std::size_t>(count * pairs));
        evaluate(sv, which.data(), count, one_signed_, block, value.data());
        Coupling coupling(odds);
        std::int64_t undecided = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            double* const own = value.data() + i * pairs;
            for (std::int64_t p = 0; p < pairs; ++p) own[p] -= model_.rho[static_cast<std::size_t>(p)];
            undecided += !prints_alike(coupling, rounding_->row(sv, which[static_cast<std::size_t>(i)], false), own,
                                       block.sizes_of(i, pairs), block.radii);
        }
        odds_at_once_ = static_cast<double>(undecided) > saved * static_cast<double>(count);
    });
    return odds_at_once_;
}

void Exact::decision_values(const Rows& rows, bool precise, const std::vector<Threshold>& thresholds,
                            const std::optional<Odds>& odds, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t pairs = model_.pairs();
    std::array<std::atomic<std::int64_t>, 4> level_rows{};
    const std::int64_t grain = rows_per_block(rows.rows);
    std::int64_t share = grain;
    if (out.labels_alone) {
        // Large shares, so that a level passes many rows on. Fewer for many pairs: one row's numbers may exceed a
        // thread's memory.
        const std::int64_t threads = std::clamp<std::int64_t>((1 << 22) / std::max<std::int64_t>(pairs, 1), 1,
                                                              shares_per_thread * get_threads());
        share = std::max(grain, (rows.rows + threads - 1) / threads);
    }
    const bool at_once = odds && odds_at_once(*odds);
    const bool sized = one_signed_ && (pairs == 1 || (odds && grain * pairs <= numbers_per_thread()));
    parallel_for(rows.rows, share, [&](std::int64_t first, std::int64_t last) {
        const auto leased = this->block();
        Block& block = *leased;
        if (odds) block.coupling.take(*odds);
        LevelRows decided{};
        if (out.labels_alone) {
            label(rows, first, last, false, block, out, decided);
            first = last;
        }
        block.undecided.clear();
        for (; first < last; first += grain) {
            const std::int64_t stop = std::min(last, first + grain);
            double* const value = out.value.data() + first * pairs;
            if (model_.kernel.type != KernelType::precomputed && !at_once)
                evaluate(rows, block.numbers(first, stop), stop - first, sized, block, value);
            const std::size_t undecided_before = block.undecided.size();
            for (std::int64_t r = first; r < stop; ++r) {
                if (at_once) {
                    block.undecided.push_back(r);
                    continue;
                }
                double* const row_value = out.value.data() + r * pairs;
                const Rounding::Row rounding = rounding_->row(rows, r, precise);
                const bool known = rounding.kernel() < infinite;
                // After the sum, as in LIBSVM: a large rho must not swallow small terms.
                for (std::int64_t p = 0; p < pairs; ++p) row_value[p] -= model_.rho[p];
                bool sure = true;
                for (std::int64_t p = 0; p < pairs && (sure || out.with_radius); ++p) {
                    const double radius =
                        least_radius(p, rounding, row_value[p], pairs == 1 ? block.sizes_of(r - first, 1) : nullptr);
                    if (out.with_radius) out.radius[r * pairs + p] = radius;
                    if (model_.regression || !known) {
                        // Without a bound, one of the sums may overflow and the other not.
                        sure &= known && radius < infinite;
                        continue;
                    }
                    sure &= std::fabs(row_value[p]) > radius;  // false for NaN too
                    for (const auto& [at, margin] : thresholds) sure &= std::fabs(row_value[p] - at) > radius + margin;
                }
                if (odds && sure)
                    sure = prints_alike(block.coupling, rounding, row_value, block.sizes_of(r - first, pairs),
                                        block.radii);
                if (!sure) block.undecided.push_back(r);
            }
            decided[double_level] +=
                stop - first - static_cast<std::int64_t>(block.undecided.size() - undecided_before);
            // The reference sum takes rows side by side: collect many.
            const std::int64_t count = static_cast<std::int64_t>(block.undecided.size());
            if (count == 0 || (pairs == 1 && count < block_rows && stop < last)) continue;
            block.value.resize(static_cast<std::size_t>(count * pairs));
            reference(rows, block.undecided.data(), count, block, block.value.data());
            for (std::int64_t i = 0; i < count; ++i) {
                std::copy_n(block.value.data() + i * pairs, pairs, out.value.data() + block.undecided[i] * pairs);
                if (out.with_radius)
                    std::fill_n(out.radius.data() + block.undecided[i] * pairs, pairs,
                                0.0);  // svm-predict's own number
                if (!at_once) out.evaluations[block.undecided[i]] += model_.total_sv();
            }
            decided[reference_level] += count;
            block.undecided.clear();
        }
        for (std::size_t level = 0; level < decided.size(); ++level) level_rows[level] += decided[level];
    });
    for (std::size_t level = 0; level < level_rows.size(); ++level) out.level_rows[level] = level_rows[level];
    out.reference_rows = out.level_rows[reference_level];
}

}  // namespace fastsvm

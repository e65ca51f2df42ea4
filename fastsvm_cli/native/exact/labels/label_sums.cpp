#include "exact/labels/label_sums.h"

#include <algorithm>
#include <cmath>

#include "simd/loops.h"

namespace fastsvm {

namespace {
constexpr std::int64_t run = lanes;  // vectors that the sums take at a time
// Kernel values per thread, unless one row has more: 2 MB.
constexpr std::int64_t values_max = 1 << 19;
// Exponent of the largest coefficient: products with kernel values are then never denormal, which is slow.
constexpr int coefficient_exponent = 60;
}  // namespace

struct LabelSums::ClassRow {
    Share wrong;
    KernelRounding theirs;
    double theirs_of_any;
    bool decided;  // has a bound, and a winner within it
    bool votes;    // whether a candidate's pairs were counted
};

struct LabelSums::Scratch {
    KernelTiles::Block* block;
    Aligned<float> values;
    Aligned<double> sums;
    // For several classes.
    std::vector<ClassRow> rows;
    std::vector<std::vector<std::int64_t>> by_class;     // rows by candidate
    std::vector<double> sizes;                           // (rows / product_rows, classes, product_rows)
    std::vector<std::int64_t> candidates;                // rows of one candidate
    std::vector<double> own, others;                     // (classes, product_rows): sums of one class's pairs
    std::vector<float> peaks;                            // (classes, product_rows)
    std::vector<std::int64_t> coef_at, value_at, count;  // (classes): of runs of vectors
    std::vector<Votes> votes;                            // (rows)
    std::vector<std::int64_t> left;
};

bool LabelSums::holds(const SvmModel& model) {
    if (model.regression || model.pairs() == 0 || !model.kernel.of_distances()) return false;
    double largest = 0;
    const Array<double>& coef = model.vectors->leading;
    for (std::int64_t i = 0; i < coef.size(); ++i) {
        if (!std::isfinite(coef[i])) return false;
        largest = std::max(largest, std::fabs(coef[i]));
    }
    return largest > 1e-100 && largest < 1e100;
}

LabelSums::~LabelSums() = default;

LabelSums::LabelSums(const SvmModel& model, const Rounding& rounding) : model_(model), rounding_(rounding) {
    const Rows& sv = *model.vectors;
    double most = 0;
    for (std::int64_t i = 0; i < sv.leading.size(); ++i) most = std::max(most, std::fabs(sv.leading[i]));
    scale_ = std::ldexp(1.0, std::ilogb(most) - coefficient_exponent);
    const int columns = sv.leading_count;
    const auto fill_up = [this](std::int64_t to) {
        order_.resize(static_cast<std::size_t>(whole(static_cast<std::int64_t>(order_.size()), to)), -1);
    };
    if (model.pairs() == 1) {
        for (std::int64_t i = 0; i < sv.rows; ++i)
            if (sv.leading[i * columns] > 0) order_.push_back(i);
        fill_up(lanes);
        positive_ = static_cast<std::int64_t>(order_.size());
        for (std::int64_t i = 0; i < sv.rows; ++i)
            if (sv.leading[i * columns] < 0) order_.push_back(i);
    } else {
        std::int64_t padded = 0, i = 0;
        for (std::int64_t n : model.nr_sv) padded += whole(n, run);
        const bool gaps = 2 * padded <= 3 * sv.rows;  // as in Exact::place_vectors
        for (std::int64_t n : model.nr_sv) {
            class_start_.push_back(static_cast<std::int64_t>(order_.size()));
            for (const std::int64_t stop = i + n; i < stop; ++i) order_.push_back(i);
            if (gaps) fill_up(run);
            run_.push_back(static_cast<std::int64_t>(order_.size()) - class_start_.back());
        }
    }
    fill_up(panel);
    padded_ = static_cast<std::int64_t>(order_.size());
    coef_.assign(static_cast<std::size_t>(padded_ * columns), 0.0F);
    largest_.assign(static_cast<std::size_t>(padded_), 0.0F);
    for (std::int64_t s = 0; s < padded_; ++s)
        for (int j = 0; order_[s] >= 0 && j < columns; ++j) {
            const double exact = sv.leading[order_[s] * columns + j] / scale_;
            const float rounded = static_cast<float>(model.pairs() == 1 ? std::fabs(exact) : exact);
            coef_[j * padded_ + s] = rounded;
            largest_[s] = std::max(largest_[s], std::fabs(rounded));
            if (std::fabs(static_cast<double>(rounded)) != std::fabs(exact)) inexact_ = single_unit;
        }
}

// B25.
LabelSums::Share LabelSums::share(double relative_error) const {
    const double n = static_cast<double>(padded_);
    const double term = (1 + relative_error) * (1 + inexact_) * (1 + 4.00001 * single_unit) - 1 + (n + 40) * 1.2e-16;
    const double lost = std::ldexp(n, coefficient_exponent - 124);
    if (!(term < 0.5)) return {infinite, 0};
    const double relative = term / (1 - term);
    return {relative, scale_ * lost * (2 + relative)};
}

void LabelSums::decide_labels(const KernelTiles& tiles, const Rows& rows, std::vector<std::int64_t>& undecided,
                              std::int32_t* winner, bool likely) const {
    const auto leased = scratches_.lease();
    Scratch& scratch = *leased;
    const auto block = tiles.leased_block();
    scratch.block = &*block;
    const bool pair = model_.pairs() == 1;
    const std::int64_t n = static_cast<std::int64_t>(undecided.size());
    const std::int64_t most =
        pair ? rows_at_once
             : std::clamp<std::int64_t>(values_max / padded_ / row_panel * row_panel, std::int64_t{1}, rows_at_once);
    std::vector<std::int64_t>& left = scratch.left;
    left.clear();
    for (std::int64_t at = 0; at < n; at += most) {
        const std::int64_t* const which = undecided.data() + at;
        const std::int64_t now = std::min(most, n - at);
        if (pair)
            decide_pair(tiles, rows, which, now, likely, scratch, left, winner);
        else
            decide_classes(tiles, rows, which, now, scratch, left, winner);
    }
    undecided.swap(left);
}

void LabelSums::decide_pair(const KernelTiles& tiles, const Rows& rows, const std::int64_t* which, std::int64_t n,
                            bool likely, Scratch& scratch, std::vector<std::int64_t>& undecided,
                            std::int32_t* winner) const {
    tiles.take(rows, which, n, *scratch.block);
    scratch.sums.assign(static_cast<std::size_t>(2 * rows_at_once * lanes), 0.0);
    double* const positive = scratch.sums.data();
    double* const negative = positive + rows_at_once * lanes;
    // A panel may have coefficients of both signs.
    const std::int64_t mixed = positive_ / panel * panel, after = whole(positive_, panel);
    tiles.add_sums(*scratch.block, n, 0, mixed, coef_.data(), scratch.values, positive);
    tiles.add_sums(*scratch.block, n, after, padded_, coef_.data() + after, scratch.values, negative);
    if (mixed < after) {
        scratch.values.resize(static_cast<std::size_t>(n * panel));
        tiles.values(*scratch.block, mixed, after, scratch.values.data(), panel);
        const auto add = [&](std::int64_t from, std::int64_t to, double* sums) {
            loops().products->add_products(n, to - from, coef_.data() + from, scratch.values.data() + (from - mixed),
                                           panel, sums);
        };
        add(mixed, positive_, positive);
        add(positive_, after, negative);
    }
    const double rho = model_.rho[0];
    for (std::int64_t r = 0; r < n; ++r) {
        const Share wrong = share(tiles.relative_error(*scratch.block, r));
        const auto total = [](const double* s) {
            return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
        };
        const double p = scale_ * total(positive + r * lanes), q = scale_ * total(negative + r * lanes);
        const double value = (p - q) - rho, weight = p + q;
        const double radius = (wrong.of(weight) + 4 * unit * (weight + std::fabs(rho)) +
                               rounding_.svm_predict(0, rounding_.svm_predict(rows, which[r])) + 1e-200) *
                              (1 + 1e-9);
        // Values without a bound may be anything, also NaN.
        const bool known = wrong.relative < infinite;
        if (known && (likely || std::fabs(value) > radius))
            winner[which[r]] = value > 0 ? 0 : 1;
        else
            undecided.push_back(which[r]);
    }
}

// Sums of class c's pairs, for up to product_rows rows: own, (classes, product_rows), meaningless at c.
void LabelSums::sums_of_class(std::int64_t c, int rows, const float* const* values, Scratch& scratch) const {
    const std::int64_t classes = model_.classes();
    const ProductLoops& loop = *loops().products;
    // Shares of c's vectors, then of the other classes'.
    const auto at = [&](std::int64_t of, std::int64_t against) {
        return (against < of ? against : against - 1) * padded_ + class_start_[of];
    };
    for (std::int64_t other = 0; other < classes; ++other) {
        scratch.coef_at[other] = other == c ? 0 : at(c, other);
        scratch.value_at[other] = class_start_[c];
        scratch.count[other] = other == c ? 0 : run_[c];
    }
    loop.products(rows, classes, scratch.count.data(), coef_.data(), scratch.coef_at.data(), values,
                  scratch.value_at.data(), scratch.own.data());
    for (std::int64_t other = 0; other < classes; ++other) {
        scratch.coef_at[other] = other == c ? 0 : at(other, c);
        scratch.count[other] = other == c ? 0 : run_[other];
    }
    loop.products(rows, classes, scratch.count.data(), coef_.data(), scratch.coef_at.data(), values,
                  class_start_.data(), scratch.others.data());
    double* const sums = scratch.own.data();
    const double* const of_others = scratch.others.data();
    for (std::int64_t k = 0; k < classes * product_rows; ++k) sums[k] += of_others[k];
}

void LabelSums::decide_classes(const KernelTiles& tiles, const Rows& rows, const std::int64_t* which, std::int64_t n,
                               Scratch& scratch, std::vector<std::int64_t>& undecided, std::int32_t* winner) const {
    const std::int64_t classes = model_.classes();
    const std::size_t per_row = static_cast<std::size_t>(classes);
    const ProductLoops& loop = *loops().products;
    tiles.take(rows, which, n, *scratch.block);
    scratch.values.resize(static_cast<std::size_t>(n * padded_));
    tiles.values(*scratch.block, 0, padded_, scratch.values.data(), padded_);
    const auto values_of = [&](std::int64_t r) { return scratch.values.data() + r * padded_; };
    for (std::vector<double>* each : {&scratch.own, &scratch.others}) each->resize(per_row * product_rows);
    scratch.rows.resize(static_cast<std::size_t>(n));
    scratch.sizes.resize(per_row * static_cast<std::size_t>(whole(n, product_rows)));
    scratch.peaks.resize(per_row * product_rows);
    for (std::vector<std::int64_t>* each : {&scratch.coef_at, &scratch.value_at, &scratch.count}) each->resize(per_row);
    scratch.by_class.resize(per_row);
    for (std::vector<std::int64_t>& each : scratch.by_class) each.clear();
    while (static_cast<std::int64_t>(scratch.votes.size()) < n) scratch.votes.emplace_back(static_cast<int>(classes));

    // Side by side: coefficients are read once for several rows.
    const float* values[product_rows];
    for (std::int64_t first = 0; first < n; first += product_rows) {
        const int now = static_cast<int>(std::min<std::int64_t>(product_rows, n - first));
        for (int r = 0; r < now; ++r) values[r] = values_of(first + r);
        loop.products_and_peaks(now, classes, run_.data(), largest_.data(), values, class_start_.data(),
                                scratch.sizes.data() + first * classes, scratch.peaks.data());
        for (int r = 0; r < now; ++r) {
            ClassRow& row = scratch.rows[static_cast<std::size_t>(first + r)];
            row.wrong = share(tiles.relative_error(*scratch.block, first + r));
            row.theirs = rounding_.svm_predict(rows, which[first + r]);
            row.theirs_of_any = rounding_.svm_predict_of_any(row.theirs);
            row.votes = false;
            row.decided = row.wrong.relative < infinite && row.theirs.kernel < infinite;
            if (!row.decided) continue;
            // The nearest vector's class is a better guess than that of the largest sum.
            std::size_t likely = 0;
            const float* const peaks = scratch.peaks.data() + r;
            for (std::size_t c = 1; c < per_row; ++c)
                if (peaks[c * product_rows] > peaks[likely * product_rows]) likely = c;
            scratch.by_class[likely].push_back(first + r);
        }
    }
    // Rows of one candidate are side by side. Most are decided by their first; the others wait for their next one.
    for (bool waiting = true; waiting;) {
        waiting = false;
        for (std::int64_t c = 0; c < classes; ++c) {
            std::vector<std::int64_t>& mine = scratch.candidates;
            mine.clear();
            mine.swap(scratch.by_class[static_cast<std::size_t>(c)]);
            for (std::size_t first = 0; first < mine.size(); first += product_rows) {
                const int now = static_cast<int>(std::min<std::size_t>(product_rows, mine.size() - first));
                const std::int64_t* const row = mine.data() + first;
                for (int r = 0; r < now; ++r) values[r] = values_of(row[r]);
                sums_of_class(c, now, values, scratch);
                for (int r = 0; r < now; ++r) {
                    int next = -1;
                    const int found = count(static_cast<int>(c), row[r], scratch.own.data() + r, scratch, next);
                    if (found >= 0) {
                        winner[which[row[r]]] = found;
                    } else if (next >= 0) {
                        scratch.by_class[static_cast<std::size_t>(next)].push_back(row[r]);
                        waiting = true;
                    } else {
                        scratch.rows[static_cast<std::size_t>(row[r])].decided = false;
                    }
                }
            }
        }
    }
    for (std::int64_t r = 0; r < n; ++r)
        if (!scratch.rows[static_cast<std::size_t>(r)].decided) undecided.push_back(which[r]);
}

// Class of a row after the votes of candidate c, or -1; then `next` is the next candidate, -1 if there is none. sums:
// of its pairs, product_rows apart.
int LabelSums::count(int c, std::int64_t r, const double* sums, Scratch& scratch, int& next) const {
    const int classes = static_cast<int>(model_.classes());
    ClassRow& row = scratch.rows[static_cast<std::size_t>(r)];
    Votes& votes = scratch.votes[static_cast<std::size_t>(r)];
    if (!row.votes) votes.begin_candidates();
    row.votes = true;
    // One per class, product_rows apart.
    const double* const sizes =
        scratch.sizes.data() + r / product_rows * product_rows * model_.classes() + r % product_rows;
    for (int other = 0; other < classes; ++other) {
        if (other == c) continue;
        const std::int64_t pair = pair_of(classes, c, other);
        const double value = scale_ * sums[other * product_rows] - model_.rho[pair];
        const double weight = scale_ * (sizes[c * product_rows] + sizes[other * product_rows]);
        const double ours = row.wrong.of(weight) + 4 * unit * (2 * weight + std::fabs(model_.rho[pair])) + 1e-200;
        const double size = std::fabs(value);
        const bool known = size > (ours + row.theirs_of_any) * (1 + 1e-9) ||
                           size > (ours + rounding_.svm_predict(pair, row.theirs)) * (1 + 1e-9);
        votes.won()[other] = !known ? 0 : (value > 0) == (c < other) ? 1 : -1;
    }
    const int found = votes.count(c);
    next = found < 0 ? votes.next_candidate() : -1;
    return found;
}

}  // namespace fastsvm

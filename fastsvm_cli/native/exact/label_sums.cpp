#include "exact/label_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/loops.h"

namespace fastsvm {

namespace {
constexpr double single_unit = 5.9604644775390625e-08;  // 2^-24
// The largest coefficient has this exponent, so that no product with a kernel value is denormal, which takes long.
constexpr int coefficient_exponent = 60;
constexpr std::int64_t run = 16;  // numbers that the sums take at a time
constexpr std::int64_t rows_at_once = 8 * panel;
constexpr std::int64_t vectors_at_once = 4 * strip;  // times rows_at_once: a buffer that stays in the first-level cache
// Kernel values that a thread may hold, unless one row has more: 2 MB.
constexpr std::int64_t values_max = 1 << 19;

std::int64_t whole(std::int64_t n, std::int64_t of) { return (n + of - 1) / of * of; }
}  // namespace

struct LabelSums::Scratch {
    std::unique_ptr<KernelTiles::Block> block;
    Aligned<float> values;
    Aligned<double> sums;
    std::vector<double> class_sums, own, others;
    std::vector<float> peaks;
    std::vector<std::int64_t> coef_at, value_at, count;  // (classes): of runs of vectors
    std::unique_ptr<Votes> votes;
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
        fill_up(strip);
        positive_ = static_cast<std::int64_t>(order_.size());
        for (std::int64_t i = 0; i < sv.rows; ++i)
            if (sv.leading[i * columns] < 0) order_.push_back(i);
    } else {
        std::int64_t padded = 0, i = 0;
        for (std::int64_t n : model.nr_sv) padded += whole(n, run);
        const bool gaps = 2 * padded <= 3 * sv.rows;  // classes of a few vectors each would be mostly padding
        for (std::int64_t n : model.nr_sv) {
            class_start_.push_back(static_cast<std::int64_t>(order_.size()));
            for (const std::int64_t stop = i + n; i < stop; ++i) order_.push_back(i);
            if (gaps) fill_up(run);
            run_.push_back(static_cast<std::int64_t>(order_.size()) - class_start_.back());
        }
    }
    fill_up(strip);
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

// B25: coefficients and products rounded, sums of four at most; the rest is of double precision.
LabelSums::Share LabelSums::share(double relative_error) const {
    const double n = static_cast<double>(padded_);
    const double term = (1 + relative_error) * (1 + inexact_) * (1 + 4.00001 * single_unit) - 1 + (n + 40) * 1.2e-16;
    const double lost = std::ldexp(n, coefficient_exponent - 124);
    if (!(term < 0.5)) return {std::numeric_limits<double>::infinity(), 0};
    const double relative = term / (1 - term);
    return {relative, scale_ * lost * (2 + relative)};
}

void LabelSums::settle(const KernelTiles& tiles, const Rows& rows, std::vector<std::int64_t>& open,
                       std::int32_t* winner) const {
    Scratch scratch;
    scratch.block = tiles.block();
    const bool pair = model_.pairs() == 1;
    const std::int64_t n = static_cast<std::int64_t>(open.size());
    const std::int64_t most =
        pair ? rows_at_once
             : std::clamp<std::int64_t>(values_max / padded_ / panel * panel, std::int64_t{1}, rows_at_once);
    std::vector<std::int64_t> left;
    for (std::int64_t at = 0; at < n; at += most)
        (this->*(pair ? &LabelSums::settle_pair : &LabelSums::settle_classes))(
            tiles, rows, open.data() + at, std::min(most, n - at), scratch, left, winner);
    open.swap(left);
}

void LabelSums::settle_pair(const KernelTiles& tiles, const Rows& rows, const std::int64_t* which, std::int64_t n,
                            Scratch& scratch, std::vector<std::int64_t>& open, std::int32_t* winner) const {
    tiles.take(rows, which, n, *scratch.block);
    scratch.values.resize(static_cast<std::size_t>(rows_at_once * vectors_at_once));
    scratch.sums.assign(static_cast<std::size_t>(2 * rows_at_once * lanes), 0.0);
    double* const positive = scratch.sums.data();
    double* const negative = positive + rows_at_once * lanes;
    for (std::int64_t from = 0; from < padded_;) {
        const bool first = from < positive_;
        const std::int64_t to = std::min(from + vectors_at_once, first ? positive_ : padded_);
        tiles.values(*scratch.block, from, to, scratch.values.data(), vectors_at_once);
        loops().tiles->add_products(n, to - from, coef_.data() + from, scratch.values.data(), vectors_at_once,
                                    first ? positive : negative);
        from = to;
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
        // Where nothing is known of kernel values they may be anything, negative numbers and NaN too.
        const bool known = wrong.relative < std::numeric_limits<double>::infinity();
        if (known && std::fabs(value) > radius)  // false for NaN too
            winner[which[r]] = value > 0 ? 0 : 1;
        else
            open.push_back(which[r]);
    }
}

void LabelSums::settle_classes(const KernelTiles& tiles, const Rows& rows, const std::int64_t* which, std::int64_t n,
                               Scratch& scratch, std::vector<std::int64_t>& open, std::int32_t* winner) const {
    const std::int64_t classes = model_.classes();
    const TileLoops& loop = *loops().tiles;
    tiles.take(rows, which, n, *scratch.block);
    scratch.values.resize(static_cast<std::size_t>(n * padded_));
    tiles.values(*scratch.block, 0, padded_, scratch.values.data(), padded_);
    std::vector<double>&sizes = scratch.class_sums, &own = scratch.own;
    for (std::vector<double>* each : {&sizes, &own, &scratch.others}) each->resize(static_cast<std::size_t>(classes));
    scratch.peaks.resize(static_cast<std::size_t>(classes));
    for (std::vector<std::int64_t>* each : {&scratch.coef_at, &scratch.value_at, &scratch.count})
        each->resize(static_cast<std::size_t>(classes));
    if (!scratch.votes) scratch.votes = std::make_unique<Votes>(static_cast<int>(classes));
    for (std::int64_t r = 0; r < n; ++r) {
        const float* const values = scratch.values.data() + r * padded_;
        const Share wrong = share(tiles.relative_error(*scratch.block, r));
        const KernelRounding theirs = rounding_.svm_predict(rows, which[r]);
        const double theirs_of_any = rounding_.svm_predict_of_any(theirs);
        if (!(wrong.relative < std::numeric_limits<double>::infinity()) ||
            !(theirs.kernel < std::numeric_limits<double>::infinity())) {
            open.push_back(which[r]);
            continue;
        }
        loop.products_and_peaks(classes, run_.data(), largest_.data(), values, class_start_.data(), sizes.data(),
                                scratch.peaks.data());
        // The nearest vector's class is a better guess than the one with the largest sum.
        const int likely =
            static_cast<int>(std::max_element(scratch.peaks.begin(), scratch.peaks.end()) - scratch.peaks.begin());
        const int found = scratch.votes->winner(likely, [&](int c, int* won) {
            // What c's own vectors give, and what each of the others' do.
            const auto at = [&](std::int64_t of, std::int64_t against) {
                return (against < of ? against : against - 1) * padded_ + class_start_[of];
            };
            for (int other = 0; other < classes; ++other) {
                scratch.coef_at[other] = other == c ? 0 : at(c, other);
                scratch.value_at[other] = class_start_[c];
                scratch.count[other] = other == c ? 0 : run_[c];
            }
            loop.products(classes, scratch.count.data(), coef_.data(), scratch.coef_at.data(), values,
                          scratch.value_at.data(), own.data());
            for (int other = 0; other < classes; ++other) {
                scratch.coef_at[other] = other == c ? 0 : at(other, c);
                scratch.count[other] = other == c ? 0 : run_[other];
            }
            loop.products(classes, scratch.count.data(), coef_.data(), scratch.coef_at.data(), values,
                          class_start_.data(), scratch.others.data());
            for (int other = 0; other < classes; ++other) {
                if (other == c) continue;
                const std::int64_t pair = model_.pair_of(std::min(c, other), std::max(c, other));
                const double value = scale_ * (own[other] + scratch.others[other]) - model_.rho[pair];
                const double weight = scale_ * (sizes[c] + sizes[other]);
                const double ours = wrong.of(weight) + 4 * unit * (2 * weight + std::fabs(model_.rho[pair])) + 1e-200;
                const double size = std::fabs(value);
                // Few values are as small as what is between any pair's and svm-predict's.
                const bool known = size > (ours + theirs_of_any) * (1 + 1e-9) ||
                                   size > (ours + rounding_.svm_predict(pair, theirs)) * (1 + 1e-9);
                won[other] = !known ? 0 : (value > 0) == (c < other) ? 1 : -1;
            }
        });
        if (found < 0)
            open.push_back(which[r]);
        else
            winner[which[r]] = found;
    }
}

}  // namespace fastsvm

#include "exact/labels/all_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exact/reference/reference.h"
#include "exact/reference/units.h"
#include "exact/votes.h"
#include "simd/loops.h"

namespace fastsvm {

namespace {
constexpr std::int64_t classes_min = 16;
constexpr std::int64_t table_numbers_max = 1 << 24;  // 64 MB
// Classes tried before all pairs vote.
// Maximum of a row's undecided pairs that get own values, per class; rows with more escalate.
constexpr std::int64_t undecided_per_class = 1;

}  // namespace

std::unique_ptr<const AllPairs> AllPairs::of(const SvmModel& model, const Rounding& rounding, double scale) {
    const std::int64_t classes = model.classes(), stride = whole(classes, vote_stride);
    const std::int64_t vectors = *std::max_element(model.nr_sv.begin(), model.nr_sv.end());
    if (classes < classes_min || vectors > vote_vectors || stride * vectors > 2 * model.total_sv() ||
        classes * stride > table_numbers_max / (2 * vectors + 1))
        return nullptr;
    for (double rho : model.rho)
        if (!(std::fabs(rho) < std::ldexp(scale, 100))) return nullptr;
    return std::unique_ptr<const AllPairs>(new AllPairs(model, rounding, scale, stride, vectors));
}

AllPairs::AllPairs(const SvmModel& model, const Rounding& rounding, double scale, std::int64_t stride,
                   std::int64_t vectors)
    : model_(model), rounding_(rounding), scale_(scale) {
    const Rows& sv = *model.vectors;
    const std::int64_t classes = model.classes();
    order_.assign(static_cast<std::size_t>(whole(vectors * stride, panel)), -1);
    own_.assign(static_cast<std::size_t>(classes * vectors * stride), 0.0F);
    other_ = own_;
    rho_.assign(static_cast<std::size_t>(classes * stride), std::numeric_limits<float>::quiet_NaN());
    largest_.assign(static_cast<std::size_t>(vectors * stride), 0.0F);
    std::int64_t i = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
        first_.push_back(i);
        for (std::int64_t t = 0; t < model.nr_sv[c]; ++t, ++i) {
            order_[t * stride + c] = i;
            for (std::int64_t o = 0; o < classes; ++o) {
                if (o == c) continue;
                const double exact = sv.leading[i * sv.leading_count + (o < c ? o : o - 1)] / scale;
                // Above 0 if class c wins. For c > o, LIBSVM's sign is opposite.
                const float coef = static_cast<float>(c < o ? exact : -exact);
                own_[(c * vectors + t) * stride + o] = coef;
                other_[(o * vectors + t) * stride + c] = -coef;
                largest_[t * stride + c] = std::max(largest_[t * stride + c], std::fabs(coef));
            }
        }
        for (std::int64_t o = 0; o < classes; ++o) {
            if (o == c) continue;
            const float rho = static_cast<float>(model.rho[model.pair_of(std::min(c, o), std::max(c, o))] / scale);
            rho_[c * stride + o] = c < o ? -rho : rho;
        }
    }
    tables_ = {classes, stride, vectors, own_.data(), other_.data(), rho_.data(), largest_.data()};
}

// B38. False if the row has no error bound.
bool AllPairs::measure(double relative_error, const KernelRounding& theirs, const PairVotes& row,
                       std::int64_t* nearest) const {
    const double e = relative_error, n = static_cast<double>(tables_.vectors);
    if (!(e < 0.25) || !(theirs.kernel < std::numeric_limits<double>::infinity())) return false;
    const double g = 1.0001 * (2 * n + 1) * single_unit;
    const double terms = (e + single_unit) / ((1 - e) * (1 - single_unit)) + 2.01 * (g + single_unit);
    const double up = (1 + 1e-6) / (1 - 1.01 * (g + single_unit));
    const double lost = n * std::ldexp(1.0, coefficient_exponent - 122);
    const double absolute = 0.5 * (lost + rounding_.svm_predict_of_any(theirs) / scale_) * up;
    *nearest = loops().votes->measure(tables_, static_cast<float>(terms * (1 + g) * up),
                                      static_cast<float>(std::min(absolute, 1e37)), row);
    return true;
}

void AllPairs::decide_labels(const KernelTiles& tiles, const KernelTiles::Block& block, const Rows& rows,
                             const std::int64_t* which, std::int64_t n, const float* values, Scratch& scratch,
                             std::vector<std::int64_t>& undecided, std::int32_t* winner) const {
    const VoteLoops& loop = *loops().votes;
    const std::int64_t stride = tables_.stride, padded = static_cast<std::int64_t>(order_.size());
    const std::int64_t most = undecided_per_class * tables_.classes;
    scratch.radii.resize(static_cast<std::size_t>(n * stride));
    scratch.low.resize(static_cast<std::size_t>(vote_rows * stride));
    scratch.mixed.resize(static_cast<std::size_t>(vote_rows * (tables_.vectors + 1) * stride));
    scratch.undecided.resize(static_cast<std::size_t>(vote_rows * most * 2));
    scratch.tied.clear();
    scratch.tied_at.clear();
    for (std::int64_t r = 0; r < n; ++r) {
        const PairVotes row{values + r * padded, scratch.radii.data() + r * stride, nullptr, nullptr, 0};
        std::int64_t likely = 0;
        if (!measure(tiles.relative_error(block, r), rounding_.svm_predict(rows, which[r]), row, &likely)) {
            undecided.push_back(which[r]);
            continue;
        }
        bool won = false;
        for (int t = 0; t < candidates_tried && !won; ++t) {
            const Opponent against = loop.strongest(tables_, likely, row);
            won = against.margin > row.radii[likely];  // B21
            if (won)
                winner[which[r]] = static_cast<std::int32_t>(likely);
            else
                likely = against.of;
        }
        if (won) continue;
        scratch.tied.push_back(row);
        scratch.tied_at.push_back(which[r]);
    }
    for (std::size_t at = 0; at < scratch.tied.size(); at += vote_rows) {
        const std::size_t now = std::min<std::size_t>(vote_rows, scratch.tied.size() - at);
        PairVotes* const some = scratch.tied.data() + at;
        for (std::size_t r = 0; r < now; ++r) {
            some[r].low = scratch.low.data() + static_cast<std::int64_t>(r) * stride;
            some[r].undecided = scratch.undecided.data() + static_cast<std::int64_t>(r) * most * 2;
        }
        loop.all_pairs(tables_, most, static_cast<int>(now), some, scratch.mixed.data());
        for (std::size_t r = 0; r < now; ++r) {
            const std::int64_t row = scratch.tied_at[at + r];
            const int found = some[r].undecided_pairs > most ? -1 : elect(rows, row, some[r], scratch);
            if (found < 0)
                undecided.push_back(row);
            else
                winner[row] = found;
        }
    }
}

// Winner, once undecided pairs are listed; -1 if svm-predict's rounding could decide one.
int AllPairs::elect(const Rows& rows, std::int64_t row, const PairVotes& votes, Scratch& scratch) const {
    const int classes = static_cast<int>(tables_.classes);
    const KernelRounding theirs = rounding_.svm_predict(rows, row);
    std::vector<int>& low = scratch.votes;
    std::vector<int>& high = scratch.high;
    low.assign(votes.low, votes.low + classes);
    high = low;
    for (std::int64_t p = 0; p < 2 * votes.undecided_pairs; ++p) ++high[static_cast<std::size_t>(votes.undecided[p])];
    for (std::int64_t p = 0; p < votes.undecided_pairs; ++p) {
        if (const int found = elected(classes, low.data(), high.data()); found >= 0) return found;
        const std::int32_t i = votes.undecided[2 * p], j = votes.undecided[2 * p + 1];
        const double value = reference_sum(model_, rows, row, {i, first_[i]}, {j, first_[j]});
        if (!(std::fabs(value) > 2 * rounding_.svm_predict(model_.pair_of(i, j), theirs))) return -1;
        const bool first_wins = value > 0;
        ++low[static_cast<std::size_t>(first_wins ? i : j)];
        --high[static_cast<std::size_t>(first_wins ? j : i)];
    }
    return elected(classes, low.data(), high.data());
}

}  // namespace fastsvm

#include "border.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "kernels.h"
#include "parallel.h"

namespace fastsvm {

namespace {
constexpr std::int64_t block_rows = 64;
constexpr int local_max = 64;
}  // namespace

void Border::add_pair(double level, std::int64_t n, const double* rows) {
    const std::int64_t d = features_.size(), strips = (n + strip - 1) / strip;
    Pair pair{level, n, {}, {}, {}, {}};
    pair.blocks.assign(static_cast<std::size_t>(strips * d * strip), 0.0);
    pair.half_norm.assign(static_cast<std::size_t>(strips * strip), std::numeric_limits<double>::infinity());
    pair.normals.resize(static_cast<std::size_t>(n * d));
    pair.offset.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
        const double* const b = rows + 2 * i * d;
        double norm = 0, product = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            pair.blocks[(i / strip * d + j) * strip + i % strip] = b[j];
            pair.normals[i * d + j] = b[d + j];
            norm += b[j] * b[j];
            product += b[d + j] * b[j];
        }
        pair.half_norm[i] = norm / 2;
        pair.offset[i] = level - product;
    }
    pairs_.push_back(std::move(pair));
}

double Border::plane(const Pair& pair, std::int64_t sample, const Columns& row) const {
    const double* const normal = pair.normals.data() + sample * features_.size();
    double sum = pair.offset[sample];
    for (std::int64_t e = 0; e < row.count(); ++e) sum += row.value[e] * normal[row.column[e]];
    return sum;
}

// The `local` nearest samples, weighted by (1 - s / S)^2: s their squared distances, S that of the next one (of the farthest, where there is no next), so that the mean
// changes smoothly as samples come and go.
double Border::mean(const Pair& pair, const Columns& row, double squared_norm, const std::vector<double>& scores) const {
    std::array<std::pair<double, std::int64_t>, local_max + 1> nearest;
    const std::int64_t wanted = std::min<std::int64_t>(local_ + 1, pair.n);
    std::int64_t held = 0;
    for (std::int64_t i = 0; i < pair.n; ++i) {
        if (held == wanted && !(scores[i] < nearest[held - 1].first)) continue;
        std::int64_t at = held < wanted ? held++ : held - 1;
        for (; at > 0 && scores[i] < nearest[at - 1].first; --at) nearest[at] = nearest[at - 1];
        nearest[at] = {scores[i], i};
    }
    const auto squared = [&](std::int64_t k) { return std::max(0.0, squared_norm + 2 * nearest[k].first); };
    const double most = squared(held - 1);
    double sum = 0, weights = 0;
    for (std::int64_t k = 0; k + 1 < held; ++k) {
        const double w = 1 - squared(k) / most;
        if (!(w > 0)) break;
        sum += w * w * plane(pair, nearest[k].second, row);
        weights += w * w;
    }
    return weights > 0 ? sum / weights : plane(pair, nearest[0].second, row);
}

double Border::value(const Pair& pair, const Columns& row, double squared_norm, std::vector<double>& scores) const {
    if (!pair.n) return pair.level;
    const std::int64_t d = features_.size();
    const bool several = local_ > 1 && pair.n > 1;
    // |z - b|^2 / 2 without |z|^2, which is the same for every sample.
    double least = std::numeric_limits<double>::infinity();
    std::int64_t nearest = 0;
    double dots[strip];
    for (std::int64_t from = 0; from < pair.n; from += strip) {
        kernels().strip_dots(pair.blocks.data() + from * d, row.count(), row.column.data(), row.value.data(), dots);
        const double* const half_norm = pair.half_norm.data() + from;
        double low = std::numeric_limits<double>::infinity();
        for (int s = 0; s < strip; ++s) {
            dots[s] = half_norm[s] - dots[s];
            low = dots[s] < low ? dots[s] : low;
        }
        if (several) std::copy_n(dots, std::min<std::int64_t>(strip, pair.n - from), scores.data() + from);
        if (low < least) {
            least = low;
            nearest = from + (std::find(dots, dots + strip, low) - dots);
        }
    }
    return several ? mean(pair, row, squared_norm, scores) : plane(pair, nearest, row);
}

void Border::decision_values(const Rows& rows, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t n_pairs = pairs();
    std::int64_t most = 0;
    for (const Pair& pair : pairs_) most = std::max(most, pair.n);
    parallel_for(rows.rows, block_rows, [&](std::int64_t first, std::int64_t last) {
        std::vector<Columns> columns(block_rows);
        std::vector<double> scores(static_cast<std::size_t>(local_ > 1 ? most : 0));
        for (; first < last; first += block_rows) {
            const std::int64_t stop = std::min(last, first + block_rows);
            for (std::int64_t r = first; r < stop; ++r)
                columns[r - first].take(features_, rows.indices.data() + rows.begin(r), rows.values.data() + rows.begin(r), rows.end(r) - rows.begin(r));
            // A pair's samples stay in cache while the rows of the block pass over them.
            for (std::int64_t p = 0; p < n_pairs; ++p)
                for (std::int64_t r = first; r < stop; ++r) out.value[r * n_pairs + p] = value(pairs_[p], columns[r - first], rows.squared_norms[r], scores);
        }
    });
}

}  // namespace fastsvm

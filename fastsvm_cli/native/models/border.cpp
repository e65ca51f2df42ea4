#include "models/border.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/model_file.h"
#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {
constexpr std::int64_t border_rows = 64;
}  // namespace

Border::Border(std::vector<std::int32_t> features, int local) : features_(std::move(features)), local_(local) {
    if (local < 1 || local > most_local) throw std::invalid_argument("so many nearest samples cannot be weighed");
}

struct Border::Scratch {
    std::vector<double> scores;  // (samples)
    std::vector<double> z;       // (d): the row
    std::vector<Columns> columns = std::vector<Columns>(border_rows);
    // Squared norms of entries that no sample has.
    std::vector<double> outside = std::vector<double>(border_rows, 0.0);
};

Border::~Border() = default;

void Border::add_pair(double level, std::int64_t n, const double* rows) {
    const std::int64_t d = features_.size(), panels = groups(n, panel);
    Pair pair{level, n, {}, {}, {}, {}, {}};
    pair.center.assign(static_cast<std::size_t>(d), 0.0);
    pair.blocks.assign(static_cast<std::size_t>(panels * d * panel), 0.0);
    pair.half_norm.assign(static_cast<std::size_t>(panels * panel), std::numeric_limits<double>::infinity());
    pair.normals.resize(static_cast<std::size_t>(n * d));
    pair.offset.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < d; ++j) pair.center[j] += rows[2 * i * d + j] / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) {
        const double* const b = rows + 2 * i * d;
        double half_norm = 0, product = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            const double point = b[j], normal = b[d + j], moved = point - pair.center[j];
            pair.blocks[(i / panel * d + j) * panel + i % panel] = moved;
            pair.normals[i * d + j] = normal;
            half_norm += moved * (0.5 * moved + pair.center[j]);
            product += normal * point;
        }
        pair.half_norm[i] = half_norm;
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

double Border::squared_distance(const Pair& pair, std::int64_t sample, const std::vector<double>& z) const {
    const std::int64_t d = features_.size();
    const double* const b = pair.blocks.data() + sample / panel * d * panel + sample % panel;
    double sum = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        const double difference = (z[j] - pair.center[j]) - b[j * panel];
        sum += difference * difference;
    }
    return sum;
}

// Weights are (1 - s / S)^2 over the `local` nearest samples: s squared distances, S the next sample's (or the
// farthest's, if there is none). So the mean changes smoothly as samples enter and leave.
double Border::mean(const Pair& pair, const Columns& row, double outside, Scratch& scratch) const {
    const std::vector<double>& scores = scratch.scores;
    std::array<std::pair<double, std::int64_t>, most_local + 1> nearest;
    const std::int64_t needed = std::min<std::int64_t>(local_ + 1, pair.n);
    std::int64_t held = 0;
    for (std::int64_t i = 0; i < pair.n; ++i) {
        if (held == needed && !(scores[i] < nearest[held - 1].first)) continue;
        std::int64_t at = held < needed ? held++ : held - 1;
        for (; at > 0 && scores[i] < nearest[at - 1].first; --at) nearest[at] = nearest[at - 1];
        nearest[at] = {scores[i], i};
    }
    const double most = outside + squared_distance(pair, nearest[held - 1].second, scratch.z);
    double sum = 0, weights = 0;
    for (std::int64_t k = 0; k + 1 < held; ++k) {
        const double w = 1 - (outside + squared_distance(pair, nearest[k].second, scratch.z)) / most;
        if (!(w > 0)) continue;
        sum += w * w * plane(pair, nearest[k].second, row);
        weights += w * w;
    }
    return weights > 0 ? sum / weights : plane(pair, nearest[0].second, row);
}

double Border::value(const Pair& pair, const Columns& row, double outside, Scratch& scratch) const {
    if (!pair.n) return pair.level;
    const std::int64_t d = features_.size();
    const bool several = local_ > 1 && pair.n > 1;
    // |z - b|^2 / 2, less what all samples share.
    double least = std::numeric_limits<double>::infinity();
    std::int64_t nearest = 0;
    double dots[panel];
    for (std::int64_t from = 0; from < pair.n; from += panel) {
        loops().panel_dots(pair.blocks.data() + from * d, row.count(), row.column.data(), row.value.data(), dots);
        const double* const half_norm = pair.half_norm.data() + from;
        double low = std::numeric_limits<double>::infinity();
        for (int s = 0; s < panel; ++s) {
            dots[s] = half_norm[s] - dots[s];
            low = dots[s] < low ? dots[s] : low;
        }
        if (several) std::copy_n(dots, std::min<std::int64_t>(panel, pair.n - from), scratch.scores.data() + from);
        if (low < least) {
            least = low;
            nearest = from + (std::find(dots, dots + panel, low) - dots);
        }
    }
    if (!several) return plane(pair, nearest, row);
    std::fill(scratch.z.begin(), scratch.z.end(), 0.0);
    for (std::int64_t e = 0; e < row.count(); ++e) scratch.z[row.column[e]] = row.value[e];
    return mean(pair, row, outside, scratch);
}

void Border::decision_values(const Rows& rows, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t n_pairs = pairs();
    std::int64_t most = 0;
    for (const Pair& pair : pairs_) most = std::max(most, pair.n);
    parallel_for(rows.rows, border_rows, [&](std::int64_t first, std::int64_t last) {
        const auto leased = scratches_.lease();
        Scratch& scratch = *leased;
        scratch.scores.resize(static_cast<std::size_t>(local_ > 1 ? most : 0));
        scratch.z.resize(static_cast<std::size_t>(features_.size()));
        std::vector<Columns>& columns = scratch.columns;
        std::vector<double>& outside = scratch.outside;
        for (; first < last; first += border_rows) {
            const std::int64_t stop = std::min(last, first + border_rows);
            for (std::int64_t r = first; r < stop; ++r) {
                columns[r - first].take(features_, rows, r);
                outside[r - first] = 0;
                for (std::int64_t e = rows.begin(r); local_ > 1 && e < rows.end(r); ++e)
                    if (features_.column(rows.indices[e]) < 0) outside[r - first] += rows.values[e] * rows.values[e];
            }
            // Samples stay in cache while the block's rows pass.
            for (std::int64_t p = 0; p < n_pairs; ++p)
                for (std::int64_t r = first; r < stop; ++r)
                    out.value[r * n_pairs + p] = value(pairs_[p], columns[r - first], outside[r - first], scratch);
        }
    });
}

void BorderFile::keys(Archive& archive) {
    std::vector<std::int64_t> counts;
    std::vector<double> levels;
    for (const auto& each : samples) counts.push_back(each->count), levels.push_back(each->level);
    archive.field("fingerprint", fingerprint);
    archive.features(features);
    archive.raw_rows(folded);
    archive.precision(single);
    archive.field("nr_border", counts, header.pairs());
    archive.field("level", levels, header.pairs());
    archive.whole("local", local, 1, most_local);
    if (archive.checks() && samples.size() != header.rho.size()) throw std::invalid_argument("wrong number of pairs");
    const auto most = static_cast<std::int64_t>(std::numeric_limits<std::int32_t>::max());
    if (archive.checks() && std::any_of(counts.begin(), counts.end(), [&](auto n) { return n < 0 || n > most; }))
        throw std::invalid_argument("wrong number of values");
    if (!archive.reads()) return;
    if (header.regression()) archive.fail_header("a border of type " + header.svm_type + " found, expected classes");
    if (std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; }))
        archive.fail("nr_border", "a negative number of border samples found");
    if (features.empty() && std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; }))
        archive.fail("nr_border", "border samples without features found");
    for (std::size_t pair = 0; pair < counts.size(); ++pair)
        samples.push_back(std::make_shared<Samples>(Samples{levels[pair], counts[pair], {}}));
}

void BorderFile::body(Archive& archive) {
    const std::int64_t d = static_cast<std::int64_t>(features.size());
    for (const auto& each : samples) archive.numbers(each->rows, 2 * each->count, d, single);
    archive.end("the border samples that nr_border announces");
}

std::size_t BorderFile::bytes() const {
    std::size_t out = 0;
    for (const auto& each : samples) out += each->rows.size() * sizeof(double);
    return out;
}

std::shared_ptr<Model> BorderFile::make_model() const {
    auto evaluator = std::make_shared<Border>(features, local);
    for (const auto& each : samples) evaluator->add_pair(each->level, each->count, each->rows.data());
    return std::make_shared<CompiledModel<Border>>(header, evaluator);
}

}  // namespace fastsvm

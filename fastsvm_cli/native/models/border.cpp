#include "models/border.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/header.h"
#include "engine/model.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

constexpr int most_steps = 200;
constexpr double at_rest = 1e-13;  // tolerance for log(sum of weights)
constexpr std::int64_t border_rows = 64;

// log of the sum of exp(-g s), even if all underflow.
double log_sum(const double* s, std::int64_t n, double g, std::vector<double>& k) {
    const double least = *std::min_element(s, s + n);
    for (std::int64_t i = 0; i < n; ++i) k[i] = s[i] - least;
    loops().exp_of_norms(whole(n, lanes), g, k.data());
    return std::log(std::accumulate(k.begin(), k.begin() + n, 0.0)) - g * least;
}

// The g where the sum of exp(-g s) is `weight`, 0 < weight < n; the largest s is 1. Newton's method on log(sum) over
// log(g), which falls and is flat at both ends, within a bracket. If at least `weight` of the s are 0, g is so large
// that only these count.
double solve(const std::vector<double>& s, std::int64_t n, double weight, std::vector<double>& k) {
    const double share = std::log(static_cast<double>(n) / weight), least = *std::min_element(s.begin(), s.begin() + n);
    // n exp(-g max s) and n exp(-g min s) bracket the sum.
    double low = share, high = std::min(share / std::max(least, std::numeric_limits<double>::min()), 1e300);
    double g = std::sqrt(low) * std::sqrt(std::min(high, low * 1e6));
    for (int step = 0; step < most_steps; ++step) {
        std::copy_n(s.begin(), n, k.begin());
        loops().exp_of_norms(whole(n, lanes), g, k.data());
        double total = 0, moment = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            total += k[i];
            moment += k[i] * s[i];
        }
        const double miss = std::log(total / weight);
        if (std::fabs(miss) < at_rest) break;
        (miss > 0 ? low : high) = g;
        const double slope = g * moment / total;  // of -log(sum) over log(g)
        const double newton = g * std::exp(std::clamp(miss / slope, -50.0, 50.0));
        const double next = newton > low && newton < high ? newton : std::sqrt(low) * std::sqrt(high);
        if (next == g) break;
        g = next;
    }
    return g;
}

}  // namespace

struct Density::Scratch {
    std::vector<double> z;        // (d): the row
    std::vector<double> squares;  // (panels * panel): |z - x|^2
    std::vector<double> s;        // of a pair, its first class first; in units of the largest
    std::vector<double> k;        // as s, in whole lanes
};

Density::~Density() = default;

Density::Density(std::vector<std::int64_t> nr_sv, double weight, const Rows& rows)
    : nr_sv_(std::move(nr_sv)), weight_(weight), features_(used_indices(rows)), panels_(groups(rows.rows, panel)) {
    std::int64_t total = 0;
    bool sound = nr_sv_.size() > 1 && weight > 0;
    for (std::size_t i = 0; i < nr_sv_.size(); total += nr_sv_[i++])
        for (std::size_t j = 0; j < nr_sv_.size(); ++j)
            sound = sound && nr_sv_[i] > 0 && (i == j || weight < static_cast<double>(nr_sv_[i] + nr_sv_[j]));
    if (!sound || total != rows.rows) throw std::invalid_argument("wrong numbers of rows, or a weight beyond them");
    blocks_.assign(rows.rows, features_.size());
    for (std::int64_t r = 0; r < rows.rows; ++r) spread(features_, rows, r, blocks_.at(r, 0), panel);
}

double Density::log_odds(std::int64_t first, std::int64_t n_first, std::int64_t second, std::int64_t n_second,
                         Scratch& scratch) const {
    const std::int64_t n = n_first + n_second;
    std::vector<double>& s = scratch.s;
    std::copy_n(scratch.squares.begin() + first, n_first, s.begin());
    std::copy_n(scratch.squares.begin() + second, n_second, s.begin() + n_first);
    const double unit = *std::max_element(s.begin(), s.begin() + n);
    if (!std::isfinite(unit)) return 0;
    if (unit == 0) return std::log(static_cast<double>(n_first) / static_cast<double>(n_second));
    for (std::int64_t i = 0; i < n; ++i) s[i] /= unit;
    const double g = solve(s, n, weight_, scratch.k);
    return log_sum(s.data(), n_first, g, scratch.k) - log_sum(s.data() + n_first, n_second, g, scratch.k);
}

void Density::decision_values(const Rows& rows, Decisions& out) const {
    out.resize(rows.rows);
    const std::int64_t d = features_.size(), n_pairs = pairs();
    parallel_for(rows.rows, 1, [&](std::int64_t from, std::int64_t to) {
        const std::size_t whole = static_cast<std::size_t>(panels_ * panel);
        const auto leased = scratches_.lease();
        Scratch& scratch = *leased;
        scratch.z.resize(static_cast<std::size_t>(d));
        scratch.squares.resize(whole);
        scratch.s.resize(whole);
        scratch.k.resize(whole + lanes);
        for (std::int64_t r = from; r < to; ++r) {
            std::fill(scratch.z.begin(), scratch.z.end(), 0.0);
            const double outside = spread(features_, rows, r, scratch.z.data());
            for (std::int64_t s = 0; s < panels_; ++s)
                loops().panel_distances(blocks_.at(s * panel, 0), d, scratch.z.data(), outside,
                                        scratch.squares.data() + s * panel);
            double* value = out.value.data() + r * n_pairs;
            std::int64_t first = 0;
            for (std::size_t i = 0; i < nr_sv_.size(); first += nr_sv_[i++]) {
                std::int64_t second = first + nr_sv_[i];
                for (std::size_t j = i + 1; j < nr_sv_.size(); second += nr_sv_[j++])
                    *value++ = log_odds(first, nr_sv_[i], second, nr_sv_[j], scratch);
            }
        }
    });
}

void DensityFile::keys(Archive& archive) {
    archive.field("fingerprint", fingerprint);
    archive.field("weight", weight);
    const std::size_t classes = header.nr_sv ? header.nr_sv->size() : 0;
    if (archive.checks() && (classes < 2 || header.rho.size() != classes * (classes - 1) / 2))
        throw std::invalid_argument("a density estimate without the pairs of two or more classes");
    if (!archive.reads()) return;
    if (!header.classification() || header.nr_class < 2)
        archive.fail_header("a density estimate without two classes found");
    std::vector<int> counts = *header.nr_sv;
    std::partial_sort(counts.begin(), counts.begin() + 2, counts.end());
    if (counts[0] < 1 || !(weight > 0 && weight < static_cast<double>(counts[0]) + counts[1]))
        archive.fail("weight", "weight " + archive.key("weight", "")->words[0].substr(0, 40) + " and classes of " +
                                   std::to_string(counts[0]) + " and " + std::to_string(counts[1]) +
                                   " rows found, expected a weight above 0 and below the rows of any two classes");
}

void DensityFile::body(Archive& archive) {
    archive.rows(rows, header.total_sv);
    archive.end("the rows that total_sv announces");
    if (!archive.reads()) return;
    std::int64_t row = 0;
    for (std::size_t c = 0; c < header.nr_sv->size(); ++c)
        for (const std::int64_t last = row + (*header.nr_sv)[c]; row < last; ++row)
            if (rows->leading[row] != (*header.label)[c])
                throw ModelError("a row of another class than " + std::to_string((*header.label)[c]) +
                                     " found, which 'nr_sv' announces",
                                 rows->first_line + row);
    const std::int64_t features = static_cast<std::int64_t>(used_indices().size());
    if (rows->rows * features > most_density_cells) throw ModelError(too_many_cells(rows->rows, features));
}

std::vector<std::int32_t> DensityFile::used_indices() const { return fastsvm::used_indices(*rows); }

std::shared_ptr<Model> DensityFile::make_model() const {
    const std::vector<std::int64_t> nr_sv(header.nr_sv->begin(), header.nr_sv->end());
    return std::make_shared<CompiledModel<Density>>(header, std::make_shared<const Density>(nr_sv, weight, *rows));
}

std::string too_many_cells(std::int64_t rows, std::int64_t features) {
    const auto gigabytes = [](std::int64_t cells) {
        const std::int64_t tenths = std::llround(static_cast<double>(cells) * 8e-8);
        return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB";
    };
    return std::to_string(rows) + " rows of " + std::to_string(features) + " features found, which take " +
           gigabytes(rows * features) + " as a dense matrix, expected at most " + gigabytes(most_density_cells) +
           ": take fewer rows";
}

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
    const std::int64_t d = features_.size();
    Pair pair{level, n, {}, {}, {}, {}, {}};
    pair.center.assign(static_cast<std::size_t>(d), 0.0);
    pair.blocks.assign(n, d);
    pair.half_norm.assign(static_cast<std::size_t>(whole(n, panel)), infinite);
    pair.normals.resize(static_cast<std::size_t>(n * d));
    pair.offset.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < d; ++j) pair.center[j] += rows[2 * i * d + j] / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) {
        const double* const b = rows + 2 * i * d;
        double half_norm = 0, product = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            const double point = b[j], normal = b[d + j], moved = point - pair.center[j];
            *pair.blocks.at(i, j) = moved;
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
    const double* const b = pair.blocks.at(sample, 0);
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
    const bool several = local_ > 1 && pair.n > 1;
    // |z - b|^2 / 2, less what all samples share.
    double least = infinite;
    std::int64_t nearest = 0;
    double dots[panel];
    for (std::int64_t from = 0; from < pair.n; from += panel) {
        loops().panel_dots(pair.blocks.at(from, 0), row.count(), row.column.data(), row.value.data(), dots);
        const double* const half_norm = pair.half_norm.data() + from;
        double low = infinite;
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

#include "models/degree_norms.h"

#include <algorithm>
#include <cmath>

#include "simd/aligned.h"
#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

// Terms of the series beyond `to` until what is left is below 1e-17 of its first one, for arguments up to `size`.
int series_terms(int to, double size) {
    int terms = 1;
    double ratio = 1;
    while (ratio > 1e-17 && terms < most_terms) {
        ++terms;
        ratio *= size / (to + terms);
        if (size < to + terms && ratio < 1e-17) break;
    }
    return terms;
}

// The vectors' numbers, padded to whole strips.
struct Weights {
    Aligned<double> norms, bare, weighted;  // gamma |x~|^2, a, a e^(-gamma |x~|^2)
    DegreeSeries series;
    std::int64_t strips;
    std::size_t sums() const { return static_cast<std::size_t>(series.to - series.from + 2); }

    Weights(const DegreeNorms& of, const double* squared_norms) : strips((of.n + strip - 1) / strip) {
        for (Aligned<double>* each : {&norms, &bare, &weighted})
            each->assign(static_cast<std::size_t>(strips * strip), 0.0);
        double largest = 0;
        for (std::int64_t i = 0; i < of.n; ++i) {
            norms[i] = of.gamma * squared_norms[i];
            bare[i] = of.a[i];
            weighted[i] = of.a[i] * std::exp(-norms[i]);
            largest = std::max(largest, norms[i]);
        }
        // |2 gamma x.y| <= gamma (|x|^2 + |y|^2) <= 2 largest.
        series = {of.from, of.to, series_terms(of.to, std::min(2 * largest, 12.0)), 2 * largest > 12, 2 * of.gamma, {}};
        double factorial = 1;
        for (int k = 0; k <= of.to + series.terms; ++k) {
            factorial *= std::max(k, 1);
            series.inverse_factorial[k] = 1 / factorial;
        }
    }
};

// The sums of one strip of vectors with all up to it: of the pairs with others before they count twice.
struct StripSums {
    const Weights& of;
    std::vector<double> others, own;  // (strip, sums, lanes)

    explicit StripSums(const Weights& weights)
        : of(weights), others(strip * weights.sums() * lanes), own(strip * weights.sums() * lanes) {}

    void clear() {
        std::fill(others.begin(), others.end(), 0.0);
        std::fill(own.begin(), own.end(), 0.0);
    }

    // Vector i with `count` others from `first` on, a multiple of `strip`: dots are their inner products.
    void add(std::int64_t i, std::int64_t first, std::int64_t count, const double* dots) {
        std::vector<double>& to = first / strip == i / strip ? own : others;
        constexpr std::int64_t most = 16 * strip;  // or the sums of one call would be long chains
        for (std::int64_t end = first + count; first < end; first += most, dots += most)
            loops().degree_terms(std::min(most, end - first), of.series, of.weighted[i], of.bare[i], of.norms[i], dots,
                                 of.weighted.data() + first, of.bare.data() + first, of.norms.data() + first,
                                 to.data() + static_cast<std::size_t>(i % strip) * of.sums() * lanes);
    }

    void total(double* out) const {
        for (std::size_t t = 0; t < of.sums(); ++t) {
            double total = 0;
            for (std::size_t row = 0; row < strip; ++row) {
                double row_total = 0;
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    const std::size_t at = (row * of.sums() + t) * lanes + lane;
                    row_total += 2 * others[at] + own[at];
                }
                total += row_total;
            }
            out[t] = total;
        }
    }
};

// Sums of sums: no total is the end of a chain longer than n / 16 + 100 additions, which the bounds of the norms count
// on: a call adds up at most 64 groups of lanes, and the calls are n / 32 at most; a total is the sum over strips.
// `work`: how much a pair of vectors is, about, in products. face(strip, sums, scratch): adds all the pairs of a strip.
template <class Scratch, class Face>
std::vector<double> pair_sums(const DegreeNorms& of, const Weights& weights, double work, const Scratch& fresh,
                              const Face& face) {
    const std::int64_t strips = weights.strips;
    const std::size_t size = weights.sums();
    std::vector<double> totals(size, 0.0);
    std::int64_t done = 0;
    while (done < strips) {
        // Parts of about a second or less, so that progress can be shown and an interruption heard. Neither they nor
        // the order of the sums depend on the number of threads: the same model has the same certificate.
        const double pairs_wanted = 2e9 / std::max(work, 20.0);
        std::int64_t stop = done;
        double pairs = 0;
        while (stop < strips && pairs < pairs_wanted) pairs += static_cast<double>(++stop) * strip * strip;
        std::vector<double> strip_sums(static_cast<std::size_t>(stop - done) * size, 0.0);
        parallel_for(stop - done, 1, [&](std::int64_t part_first, std::int64_t part_last) {
            StripSums sums(weights);
            Scratch scratch = fresh;
            // The longest first, so that no thread is left with one alone.
            for (std::int64_t part = part_first; part < part_last; ++part) {
                const std::int64_t first = stop - 1 - part;
                sums.clear();
                face(first, sums, scratch);
                sums.total(strip_sums.data() + static_cast<std::size_t>(first - done) * size);
            }
        });
        for (std::size_t t = 0; t < size; ++t) {
            double part = 0;
            for (std::size_t at = t; at < strip_sums.size(); at += size) part += strip_sums[at];
            totals[t] += part;
        }
        done = stop;
        const double share = static_cast<double>(done) / static_cast<double>(strips);
        if (of.progress) of.progress(share * share);
    }
    return totals;
}

}  // namespace

std::vector<double> degree_norms(const DegreeNorms& of, std::int64_t d, const double* x) {
    std::vector<double> squared_norms(static_cast<std::size_t>(of.n), 0.0);
    for (std::int64_t i = 0; i < of.n; ++i)
        for (std::int64_t j = 0; j < d; ++j) squared_norms[i] += x[i * d + j] * x[i * d + j];
    const Weights weights(of, squared_norms.data());
    Aligned<double> blocks;  // (strips, d, strip)
    blocks.assign(static_cast<std::size_t>(weights.strips * d * strip), 0.0);
    for (std::int64_t i = 0; i < of.n; ++i)
        for (std::int64_t j = 0; j < d; ++j) blocks[(i / strip * d + j) * strip + i % strip] = x[i * d + j];
    constexpr int together = 4;
    using Dots = std::vector<double>;
    const auto face = [&](std::int64_t first, StripSums& sums, Dots& dots) {
        const std::int64_t last = std::min(of.n, (first + 1) * strip);
        for (std::int64_t other = 0; other <= first; ++other)
            for (std::int64_t i = first * strip; i < last; i += together) {
                const double* rows[together];
                for (int r = 0; r < together; ++r) rows[r] = x + std::min(i + r, last - 1) * d;
                loops().tile_dots(together, strip, d, blocks.data() + other * strip * d, rows, 1, dots.data());
                for (int r = 0; r < together && i + r < last; ++r)
                    sums.add(i + r, other * strip, strip, dots.data() + r * strip);
            }
    };
    return pair_sums(of, weights, static_cast<double>(d), Dots(together * strip), face);
}

std::vector<double> degree_norms(const DegreeNorms& of, std::int64_t d, const std::int64_t* starts,
                                 const std::int32_t* columns, const double* values, const double* shift,
                                 const double* squared_norms) {
    const Weights weights(of, squared_norms);
    const std::int64_t entries = of.n ? starts[of.n] : 0, padded = weights.strips * strip;
    // The vectors in tiles, whose products with one vector stay in the first-level cache; in each, for every column,
    // the vectors that have it. Tiles are larger where they would be mostly the starts of empty lists.
    std::int64_t tile = 64 * strip;
    while (tile < padded && padded / tile * d > 4 * entries) tile *= 2;
    const std::int64_t tiles = (padded + tile - 1) / tile;
    std::vector<std::int64_t> list_start(static_cast<std::size_t>(tiles * d) + 1, 0);
    std::vector<std::int32_t> list_vector(static_cast<std::size_t>(entries));  // within its tile
    std::vector<double> list_value(static_cast<std::size_t>(entries));
    for (std::int64_t i = 0; i < of.n; ++i)
        for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) ++list_start[i / tile * d + columns[e] + 1];
    for (std::size_t at = 1; at < list_start.size(); ++at) list_start[at] += list_start[at - 1];
    {
        std::vector<std::int64_t> at(list_start.begin(), list_start.end() - 1);
        for (std::int64_t i = 0; i < of.n; ++i)
            for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
                const std::int64_t to = at[i / tile * d + columns[e]]++;
                list_vector[to] = static_cast<std::int32_t>(i % tile);
                list_value[to] = values[e];
            }
    }
    double shared = 0;  // products of a pair, on average
    for (std::int64_t j = 0; j < d; ++j) {
        double share = 0;
        for (std::int64_t t = 0; t < tiles; ++t)
            share += static_cast<double>(list_start[t * d + j + 1] - list_start[t * d + j]);
        share /= static_cast<double>(std::max<std::int64_t>(of.n, 1));
        shared += share * share;
    }
    using Dots = std::vector<double>;
    const auto face = [&](std::int64_t first, StripSums& sums, Dots& dots) {
        const std::int64_t last = std::min(of.n, (first + 1) * strip), own = first * strip;
        for (std::int64_t from = 0; from <= own; from += tile) {
            const std::int64_t stop = std::min({from + tile, own + strip, of.n});
            for (std::int64_t i = own; i < last; ++i) {
                for (std::int64_t j = from; j < stop; ++j) dots[j - from] = -(shift[i] + shift[j]);
                std::fill(dots.begin() + (stop - from), dots.end(), 0.0);
                const std::int64_t* const lists = list_start.data() + from / tile * d;
                for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
                    const double value = values[e];
                    for (std::int64_t at = lists[columns[e]]; at < lists[columns[e] + 1]; ++at)
                        dots[list_vector[at]] += value * list_value[at];
                }
                // What lies beyond `stop` has got products, too; it is not looked at, or has a weight of 0.
                const std::int64_t before = std::min(own, from + tile) - from;
                if (before > 0) sums.add(i, from, before, dots.data());
                if (own < from + tile) sums.add(i, own, strip, dots.data() + (own - from));
            }
        }
    };
    return pair_sums(of, weights, 16 * shared, Dots(static_cast<std::size_t>(std::min(tile, padded))), face);
}

}  // namespace fastsvm

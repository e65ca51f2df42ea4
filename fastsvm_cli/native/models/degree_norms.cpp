#include "models/degree_norms.h"

#include <algorithm>
#include <cmath>

#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

// Terms of the series beyond `to` until what is left is below 1e-17 of its first one, for arguments up to `size`.
int series_terms(int to, double size) {
    int terms = 1;
    double ratio = 1;
    while (ratio > 1e-17 && terms < 120) {
        ++terms;
        ratio *= size / (to + terms);
        if (size < to + terms && ratio < 1e-17) break;
    }
    return terms;
}

}  // namespace

std::vector<double> degree_norms(std::int64_t n, std::int64_t d, const double* x, const double* a, double gamma,
                                 int from, int to, const std::function<void(double)>& progress) {
    const Loops& k = loops();
    const std::int64_t strips = (n + strip - 1) / strip, padded = strips * strip;
    std::vector<double> blocks(static_cast<std::size_t>(padded * d), 0.0);  // (strips, d, strip)
    std::vector<double> norms(static_cast<std::size_t>(padded), 0.0), bare(norms), weighted(norms);
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        double square = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            const double v = x[i * d + j];
            square += v * v;
            blocks[static_cast<std::size_t>((i / strip * d + j) * strip + i % strip)] = v;
        }
        norms[i] = gamma * square;
        bare[i] = a[i];
        weighted[i] = a[i] * std::exp(-gamma * square);
        largest = std::max(largest, norms[i]);
    }
    // |2 gamma x.y| <= gamma (|x|^2 + |y|^2) <= 2 largest.
    const bool far = 2 * largest > 12;
    const int terms = series_terms(to, std::min(2 * largest, 12.0));
    std::vector<std::int32_t> columns(static_cast<std::size_t>(d));
    for (std::int64_t j = 0; j < d; ++j) columns[j] = static_cast<std::int32_t>(j);

    const std::size_t size = static_cast<std::size_t>(to - from + 2);
    std::vector<double> totals(size, 0.0);
    // Every pair of strips once; a strip against itself counts once, against another twice. A row of the first faces
    // strips up to its own.
    std::int64_t done = 0;
    while (done < strips) {
        // Parts of about a second or less, so that progress can be shown and an interruption heard. Neither they nor
        // the order of the sums depend on the number of threads: the same model has the same certificate.
        const double pairs_wanted = 2e8 / static_cast<double>(std::max<std::int64_t>(d, 20)) * 8;
        std::int64_t stop = done;
        double pairs = 0;
        while (stop < strips && pairs < pairs_wanted) pairs += static_cast<double>(++stop) * strip * strip;
        std::vector<double> strip_sums(static_cast<std::size_t>(stop - done) * size, 0.0);
        parallel_for(stop - done, 1, [&](std::int64_t part_first, std::int64_t part_last) {
            std::vector<double> sums(24);
            double dots[strip], pair_weight[strip], pair_bare[strip], pair_norm[strip];
            // Sums of sums: no total is the end of a chain longer than n / 16 + 100 additions, which the bounds of the
            // norms count on.
            std::vector<double> row_sums(strip * size);
            for (std::int64_t first = done + part_first; first < done + part_last; ++first) {
                std::fill(row_sums.begin(), row_sums.end(), 0.0);
                for (std::int64_t other = 0; other <= first; ++other) {
                    const double times = other == first ? 1 : 2;
                    for (std::int64_t i = first * strip; i < std::min(n, (first + 1) * strip); ++i) {
                        k.strip_dots(blocks.data() + other * strip * d, d, columns.data(), x + i * d, dots);
                        for (int s = 0; s < strip; ++s) {
                            const std::int64_t j = other * strip + s;
                            dots[s] *= 2 * gamma;
                            pair_weight[s] = weighted[i] * weighted[j];
                            pair_bare[s] = bare[i] * bare[j];
                            pair_norm[s] = norms[i] + norms[j];
                        }
                        std::fill(sums.begin(), sums.end(), 0.0);
                        k.degree_terms(strip, from, to, terms, far, dots, pair_weight, pair_bare, pair_norm,
                                       sums.data());
                        double* const row_sum = row_sums.data() + static_cast<std::size_t>(i - first * strip) * size;
                        for (std::size_t t = 0; t < size; ++t)
                            row_sum[t] += times * sums[static_cast<std::size_t>(from) + t];
                    }
                }
                for (std::size_t t = 0; t < size; ++t) {
                    double strip_sum = 0;
                    for (int s = 0; s < strip; ++s) strip_sum += row_sums[static_cast<std::size_t>(s) * size + t];
                    strip_sums[static_cast<std::size_t>(first - done) * size + t] = strip_sum;
                }
            }
        });
        for (std::size_t t = 0; t < size; ++t) {
            double part = 0;
            for (std::size_t at = t; at < strip_sums.size(); at += size) part += strip_sums[at];
            totals[t] += part;
        }
        done = stop;
        const double share = static_cast<double>(done) / static_cast<double>(strips);
        if (progress) progress(share * share);
    }
    return totals;
}

}  // namespace fastsvm

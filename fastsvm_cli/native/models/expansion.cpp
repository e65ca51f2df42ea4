#include "models/expansion.h"

#include <algorithm>
#include <cmath>

#include "simd/loops.h"
#include "simd/packed.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t block_vectors = 128;

// Writes the vector minus the center, (d); returns its squared length.
double move(const Terms& terms, std::int64_t vector, double* out) {
    const std::int64_t d = terms.features.size();
    const Rows& rows = terms.vectors;
    for (std::int64_t j = 0; j < d; ++j) out[j] = -terms.center[j];
    for (std::int64_t e = rows.begin(vector); e < rows.end(vector); ++e) {
        const std::int32_t column = terms.features.column(rows.indices[e]);
        if (column >= 0) out[column] = rows.values[e] - terms.center[column];
    }
    double sum = 0;
    for (std::int64_t j = 0; j < d; ++j) sum += out[j] * out[j];
    return sum;
}

// In panels of `panel` columns, for panel_products.
struct Block {
    Block() = default;
    explicit Block(std::int64_t d)
        : d(d), panels(static_cast<std::size_t>(whole(d, panel) * block_vectors)), weight(block_vectors) {}
    std::int64_t n = 0, d = 0;
    std::vector<double> panels;  // (ceil(d / panel), block_vectors, panel), 0 beyond column d
    std::vector<double> weight;  // (n)
    // Entry j of vector i is at [i * panel].
    const double* column(std::int64_t j) const { return panels.data() + j / panel * panel * block_vectors + j % panel; }
};

// row: scratch, (d).
void lay_out(const Terms& terms, const double* a, bool gaussian, double gamma, std::int64_t first, std::int64_t last,
             double* row, Block& out) {
    const std::int64_t d = out.d;
    out.n = last - first;
    for (std::int64_t i = 0; i < out.n; ++i) {
        const double square = move(terms, terms.index[first + i], row);
        out.weight[i] = gaussian ? a[first + i] * std::exp(-gamma * square) : a[first + i];
        for (std::int64_t j = 0; j < d; j += panel)
            std::copy_n(row + j, std::min<std::int64_t>(panel, d - j),
                        out.panels.data() + j * block_vectors + i * panel);
    }
}

// out += sum_i w_i x_ij x_ic for first <= j < last and j <= c < d: rows of the packed triangle in variables from..d-1.
void add_products(const Block& block, std::int64_t from, std::int64_t first, std::int64_t last, const double* w,
                  double* out) {
    const std::int64_t d = block.d;
    std::vector<double> weighted(4 * block_vectors, 0.0);
    double sums[4][panel];
    for (std::int64_t j = first; j < last; j += 4) {
        const std::int64_t rows = std::min<std::int64_t>(4, last - j);
        const double* x[4];
        double* to[4];
        for (std::int64_t r = 0; r < 4; ++r) {
            x[r] = weighted.data() + r * block_vectors;
            to[r] = sums[r];
            for (std::int64_t i = 0; r < rows && i < block.n; ++i)
                weighted[r * block_vectors + i] = w[i] * block.column(j + r)[i * panel];
        }
        for (std::int64_t panel_start = j / panel * panel; panel_start < d; panel_start += panel) {
            loops().panel_products(block.panels.data() + panel_start * block_vectors, block.n, x, to);
            for (std::int64_t r = 0; r < rows; ++r) {
                // The row of j + r begins with its own variable.
                double* const row = out + packed_offset(2, d - from, j + r - from) - (j + r);
                for (std::int64_t c = std::max(panel_start, j + r); c < std::min(d, panel_start + panel); ++c)
                    row[c] += sums[r][c - panel_start];
            }
        }
    }
}

// out += sum_i w_i x_i^k in variables from..d-1, packed, k >= 1: the part with first <= first index < last.
void add_moments(const Block& block, int k, std::int64_t from, std::int64_t first, std::int64_t last, const double* w,
                 double* out) {
    const std::int64_t d = block.d;
    if (k == 2) return add_products(block, from, first, last, w, out);
    if (k == 1) {
        const std::vector<double> none(block_vectors, 0.0);
        const double* const x[4] = {w, none.data(), none.data(), none.data()};
        double sums[4][panel];
        double* const to[4] = {sums[0], sums[1], sums[2], sums[3]};
        for (std::int64_t panel_start = first / panel * panel; panel_start < last; panel_start += panel) {
            loops().panel_products(block.panels.data() + panel_start * block_vectors, block.n, x, to);
            for (std::int64_t j = std::max(first, panel_start); j < std::min(last, panel_start + panel); ++j)
                out[j - from] += sums[0][j - panel_start];
        }
        return;
    }
    std::vector<double> weighted(block_vectors, 0.0);
    for (std::int64_t j = first; j < last; ++j) {
        for (std::int64_t i = 0; i < block.n; ++i) weighted[i] = w[i] * block.column(j)[i * panel];
        add_moments(block, k - 1, j, j, d, weighted.data(), out + packed_offset(k, d - from, j - from));
    }
}

}  // namespace

std::vector<double> expand(const Terms& terms, const double* a, bool gaussian, double gamma,
                           const std::vector<double>& factors) {
    const std::int64_t d = terms.features.size(), n = static_cast<std::int64_t>(terms.index.size());
    const int degree = static_cast<int>(factors.size()) - 1;
    std::vector<std::int64_t> start{0};
    for (int k = 0; k <= degree; ++k) start.push_back(start.back() + (k == 0 ? 1 : packed_size(k, d)));
    std::vector<double> out(static_cast<std::size_t>(start.back()), 0.0);
    // Blocks stay in cache while a tensor's rows pass.
    const std::int64_t padded = whole(d, panel);
    const std::int64_t together =
        std::clamp<std::int64_t>((1 << 20) / (std::max<std::int64_t>(padded, 1) * block_vectors), 1, 1024);
    std::vector<Block> blocks(static_cast<std::size_t>(std::min(together, (n + block_vectors - 1) / block_vectors)));
    for (Block& block : blocks) block = Block(d);
    for (std::int64_t first = 0; first < n; first += together * block_vectors) {
        const std::int64_t used = std::min(together, (n - first + block_vectors - 1) / block_vectors);
        parallel_for(used, 4, [&](std::int64_t from, std::int64_t to) {
            std::vector<double> row(static_cast<std::size_t>(d));
            for (std::int64_t at = from; at < to; ++at) {
                const std::int64_t begin = first + at * block_vectors;
                lay_out(terms, a, gaussian, gamma, begin, std::min(n, begin + block_vectors), row.data(), blocks[at]);
            }
        });
        for (std::int64_t at = 0; at < used; ++at)
            for (std::int64_t i = 0; i < blocks[at].n; ++i) out[0] += blocks[at].weight[i];
        for (int k = 1; k <= degree; ++k) {
            // By first index: no two threads add to the same number; degree 2 in fours, for panel_products.
            const std::int64_t rows = k == 2 ? 4 : 1;
            const double work = static_cast<double>(packed_size(k, d)) * static_cast<double>(used * block_vectors);
            const std::int64_t grain = work < 1e6 ? d : k == 2 ? 16 : k == 1 ? d : 1;
            parallel_for((d + rows - 1) / rows, std::max<std::int64_t>(1, grain / rows),
                         [&](std::int64_t from, std::int64_t to) {
                             for (std::int64_t at = 0; at < used; ++at)
                                 add_moments(blocks[at], k, 0, from * rows, std::min(d, to * rows),
                                             blocks[at].weight.data(), out.data() + start[k]);
                         });
        }
    }
    for (int k = 0; k <= degree; ++k)
        for (std::int64_t c = start[k]; c < start[k + 1]; ++c) out[c] *= factors[k];
    return out;
}

double largest_squared_distance(const Terms& terms) {
    std::vector<double> row(static_cast<std::size_t>(terms.features.size()));
    double largest = 0;
    for (std::int64_t vector : terms.index) largest = std::max(largest, move(terms, vector, row.data()));
    return largest;
}

void column_ranges(const Terms& terms, double* mean, double* low, double* high) {
    const std::int64_t d = terms.features.size();
    std::vector<std::int64_t> count(static_cast<std::size_t>(d), 0);
    const Rows& rows = terms.vectors;
    for (std::int64_t j = 0; j < d; ++j) mean[j] = low[j] = high[j] = 0;
    for (std::int64_t vector : terms.index)
        for (std::int64_t e = rows.begin(vector); e < rows.end(vector); ++e) {
            const std::int32_t j = terms.features.column(rows.indices[e]);
            if (j < 0) continue;
            const double x = rows.values[e];
            low[j] = count[j] ? std::min(low[j], x) : x;
            high[j] = count[j] ? std::max(high[j], x) : x;
            mean[j] += x;
            ++count[j];
        }
    const std::int64_t n = static_cast<std::int64_t>(terms.index.size());
    for (std::int64_t j = 0; j < d; ++j) {
        mean[j] /= static_cast<double>(std::max<std::int64_t>(n, 1));
        if (count[j] < n) {
            low[j] = std::min(low[j], 0.0);
            high[j] = std::max(high[j], 0.0);
        }
    }
}

}  // namespace fastsvm

#include "expansion.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "packed.h"
#include "parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t block_vectors = 128;

// The vector's entries by column, (d), minus the centre. Returns their squared length.
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

// A block of vectors, twice: by columns, and in panels of `strip` columns as strip_products takes them.
struct Block {
    std::int64_t n = 0, d = 0;
    std::vector<double> columns;  // (d, block_vectors)
    std::vector<double> panels;   // (ceil(d / strip), block_vectors, strip)
    std::vector<double> weight;   // (block_vectors), zeros behind n
    const double* column(std::int64_t j) const { return columns.data() + j * block_vectors; }
};

// out += sum_i w_i x_ij x_ic for first <= j < last and j <= c < d: rows of the packed triangle in the variables from..d-1.
void add_products(const Block& block, std::int64_t from, std::int64_t first, std::int64_t last, const double* w, double* out) {
    const std::int64_t d = block.d;
    std::vector<double> weighted(4 * block_vectors, 0.0);
    double sums[4][strip];
    for (std::int64_t j = first; j < last; j += 4) {
        const std::int64_t rows = std::min<std::int64_t>(4, last - j);
        const double* x[4];
        double* to[4];
        for (std::int64_t r = 0; r < 4; ++r) {
            x[r] = weighted.data() + r * block_vectors;
            to[r] = sums[r];
            for (std::int64_t i = 0; r < rows && i < block.n; ++i) weighted[r * block_vectors + i] = w[i] * block.column(j + r)[i];
        }
        for (std::int64_t panel = j / strip * strip; panel < d; panel += strip) {
            kernels().strip_products(block.panels.data() + panel * block_vectors, block.n, x, to);
            for (std::int64_t r = 0; r < rows; ++r) {
                // The row of j + r begins with its own variable.
                double* const row = out + packed_offset(2, d - from, j + r - from) - (j + r);
                for (std::int64_t c = std::max(panel, j + r); c < std::min(d, panel + strip); ++c) row[c] += sums[r][c - panel];
            }
        }
    }
}

// out += sum_i w_i x_i^k in the variables from..d-1, packed, k of 1 or more.
void add_moments(const Block& block, int k, std::int64_t from, const double* w, double* out) {
    const std::int64_t d = block.d;
    if (k == 2) return add_products(block, from, from, d, w, out);
    if (k == 1) {
        for (std::int64_t j = from; j < d; ++j) out[j - from] += kernels().dot(block_vectors, w, block.column(j));
        return;
    }
    std::vector<double> weighted(block_vectors, 0.0);
    for (std::int64_t j = from; j < d; ++j) {
        for (std::int64_t i = 0; i < block.n; ++i) weighted[i] = w[i] * block.column(j)[i];
        add_moments(block, k - 1, j, weighted.data(), out + packed_offset(k, d - from, j - from));
    }
}

}  // namespace

std::vector<double> expand(const Terms& terms, const double* a, bool gaussian, double gamma, const std::vector<double>& factors) {
    const std::int64_t d = terms.features.size(), n = static_cast<std::int64_t>(terms.index.size());
    const int degree = static_cast<int>(factors.size()) - 1;
    std::vector<std::int64_t> start{0};
    for (int k = 0; k <= degree; ++k) start.push_back(start.back() + (k == 0 ? 1 : packed_size(k, d)));
    std::vector<double> out(static_cast<std::size_t>(start.back()), 0.0), row(static_cast<std::size_t>(d));
    Block block;
    block.d = d;
    block.columns.assign(static_cast<std::size_t>(d * block_vectors), 0.0);
    if (degree >= 2) block.panels.assign(static_cast<std::size_t>((d + strip - 1) / strip * strip * block_vectors), 0.0);
    block.weight.assign(block_vectors, 0.0);
    for (std::int64_t first = 0; first < n; first += block_vectors) {
        block.n = std::min(block_vectors, n - first);
        std::fill(block.weight.begin(), block.weight.end(), 0.0);
        for (std::int64_t i = 0; i < block.n; ++i) {
            const double square = move(terms, terms.index[first + i], row.data());
            block.weight[i] = gaussian ? a[first + i] * std::exp(-gamma * square) : a[first + i];
            for (std::int64_t j = 0; j < d; ++j) {
                block.columns[j * block_vectors + i] = row[j];
                if (degree >= 2) block.panels[(j / strip * block_vectors + i) * strip + j % strip] = row[j];
            }
        }
        for (std::int64_t j = 0; j < d; ++j) std::fill(block.columns.begin() + j * block_vectors + block.n, block.columns.begin() + (j + 1) * block_vectors, 0.0);
        for (std::int64_t i = 0; i < block.n; ++i) out[0] += block.weight[i];
        if (degree >= 1 && d) add_moments(block, 1, 0, block.weight.data(), out.data() + start[1]);
        for (int k = 2; k <= degree; ++k) {
            // By their first index, so that no two threads add to the same number; degree 2 in fours, as strip_products takes them.
            const std::int64_t together = k == 2 ? 4 : 1;
            const double work = static_cast<double>(packed_size(k, d)) * static_cast<double>(block.n);
            const std::int64_t grain = work < 1e6 ? d : k == 2 ? 16 : 1;
            parallel_for((d + together - 1) / together, std::max<std::int64_t>(1, grain / together), [&](std::int64_t from, std::int64_t to) {
                double* const tensor = out.data() + start[k];
                std::vector<double> weighted(block_vectors, 0.0);
                for (std::int64_t j = from * together; k > 2 && j < std::min(d, to * together); ++j) {
                    for (std::int64_t i = 0; i < block.n; ++i) weighted[i] = block.weight[i] * block.column(j)[i];
                    add_moments(block, k - 1, j, weighted.data(), tensor + packed_offset(k, d, j));
                }
                if (k == 2) add_products(block, 0, from * together, std::min(d, to * together), block.weight.data(), tensor);
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

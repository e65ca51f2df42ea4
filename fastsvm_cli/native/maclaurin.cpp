#include "maclaurin.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kernels.h"
#include "parallel.h"

namespace fastsvm {

void Maclaurin::add_center(const double* m, double largest_norm) {
    Center center;
    center.m.assign(m, m + dimension());
    center.squared_norm = 0;
    for (double x : center.m) center.squared_norm += x * x;
    center.moved = center.squared_norm != 0;
    // eq. (3.11): |x_M|^2 |z|^2 < 1 / (16 gamma^2). Finite expansions have no bound to keep.
    const double limit = 16 * gamma_ * gamma_ * largest_norm;
    center.norm_limit = gaussian_ && limit > 0 ? 1 / limit : std::numeric_limits<double>::infinity();
    centers_.push_back(std::move(center));
}

void Maclaurin::add_expansion(std::int64_t pair, std::int64_t center, double c, const double* v, const double* packed, bool single) {
    const std::int64_t d = dimension();
    const std::int64_t triangle = degree_ >= 2 ? d * (d + 1) / 2 : 0;
    if (pair < 0 || pair >= pairs() || center < 0 || center >= static_cast<std::int64_t>(centers_.size()))
        throw std::out_of_range("expansion of an unknown pair or center");
    const std::vector<double>& m = centers_[static_cast<std::size_t>(center)].m;
    if (degree_ >= 2 && row_starts_.empty())
        for (std::int64_t j = 0; j < d; ++j) row_starts_.push_back(row_start(j));

    // The shortest text of a single-precision number names it only once it is rounded back to single precision.
    const auto stored = [single](double x) { return single ? static_cast<double>(static_cast<float>(x)) : x; };
    Expansion e;
    e.pair = pair;
    e.center = center;
    e.c = stored(c);
    e.v.assign(static_cast<std::size_t>(d), 0.0);
    if (degree_ >= 1)
        for (std::int64_t j = 0; j < d; ++j) e.v[j] = stored(v[j]);

    // In raw coordinates: c - v.m + m'Mm, v - 2Mm, M. A far centre makes these cancel; then z - m is formed row by row instead.
    std::vector<double> Mm(static_cast<std::size_t>(d), 0.0), absolute_Mm(static_cast<std::size_t>(d), 0.0);
    double spread = 0;  // largest |M_jk|: what the quadratic form is made of near the centre
    if (centers_[static_cast<std::size_t>(center)].moved) {
        const double* row = packed;
        for (std::int64_t j = 0; triangle && j < d; ++j) {
            for (std::int64_t k = j; k < d; ++k) {
                const double x = stored(*row++);
                spread = std::max(spread, std::fabs(x));
                Mm[j] += x * m[k];
                absolute_Mm[j] += std::fabs(x * m[k]);
                if (k != j) {
                    Mm[k] += x * m[j];
                    absolute_Mm[k] += std::fabs(x * m[j]);
                }
            }
        }
        double vm = 0, mMm = 0, lost = 0, kept = std::fabs(e.c) + spread;
        for (std::int64_t j = 0; j < d; ++j) {
            vm += e.v[j] * m[j];
            mMm += m[j] * Mm[j];
            lost += std::fabs(e.v[j] * m[j]) + 4 * std::fabs(m[j]) * absolute_Mm[j];
            kept = std::max(kept, std::fabs(e.v[j]));
        }
        // Raw coordinates keep 11 digits or more of what matters: in the polynomial, and in the exponent gamma |z - m|^2.
        const double unit = 1.1e-16;
        e.centered = lost * unit > 1e-12 * kept || gamma_ * centers_[static_cast<std::size_t>(center)].squared_norm * 4 * unit > 1e-12;
        if (!e.centered) {
            e.c += mMm - vm;
            for (std::int64_t j = 0; j < d; ++j) e.v[j] -= 2 * Mm[j];
        }
    } else {
        e.centered = false;
    }

    // Double in memory while the whole model stays in cache: it saves a conversion per product.
    const bool keep_float = single && triangle * 8 > (1 << 19);
    (keep_float ? e.packed_float.reserve(triangle) : e.packed_double.reserve(triangle));
    const double* row = packed;
    for (std::int64_t j = 0; triangle && j < d; ++j)
        for (std::int64_t k = j; k < d; ++k) {
            const double x = stored(*row++) * (k == j ? 1 : 2);
            if (keep_float) e.packed_float.push_back(static_cast<float>(x));
            else e.packed_double.push_back(x);
        }
    expansions_.push_back(std::move(e));
}

// Rows of one block, sorted into sparse ones (their columns) and groups of `lanes` dense ones (transposed, (d, lanes)).
struct Maclaurin::Block {
    std::vector<Columns> columns;        // per row of the block
    std::vector<std::int64_t> dense;     // rows of the block done side by side
    std::vector<std::int64_t> sparse;
    std::vector<double> groups;          // (groups, d, lanes) in raw coordinates
    std::vector<double> moved;           // (d, lanes): a group about a centre
    std::vector<double> weight;          // per row of the block: exp(-gamma |z - m|^2)
    std::vector<char> outside;
    double sums[lanes];
};

namespace {
constexpr std::int64_t block_rows = 128;
}

void Maclaurin::decision_values(const Rows& rows, Decisions& out) const {
    out.resize(rows.rows);
    std::atomic<std::int64_t> outside{0};
    parallel_for(rows.rows, block_rows, [&](std::int64_t first, std::int64_t last) {
        Block block;
        std::int64_t found = 0;
        for (; first < last; first += block_rows) {
            const std::int64_t stop = std::min(last, first + block_rows);
            evaluate(rows, first, stop, block, out);
            for (std::int64_t r = 0; r < stop - first; ++r) found += block.outside[r];
        }
        outside += found;
    });
    out.outside = outside;
}

void Maclaurin::evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, Decisions& out) const {
    const Kernels& k = kernels();
    const std::int64_t n = last - first, d = dimension();
    const std::int64_t nr_pairs = pairs();
    block.columns.resize(block_rows);
    block.weight.resize(block_rows);
    block.outside.assign(block_rows, 0);
    block.dense.clear();
    block.sparse.clear();
    bool any_centered = false;
    for (const Expansion& e : expansions_) any_centered |= e.centered;

    for (std::int64_t r = 0; r < n; ++r) {
        Columns& columns = block.columns[r];
        const std::int64_t begin = rows.begin(first + r);
        columns.take(features_, rows.indices.data() + begin, rows.values.data() + begin, rows.end(first + r) - begin);
        // d^2 / 2 products side by side against count^2 / 2 one by one. One rule per row, so that neighbours do not matter.
        const bool dense = degree_ >= 2 && columns.count() * 5 > d * 2;
        (dense ? block.dense : block.sparse).push_back(r);
        for (std::int64_t p = 0; p < nr_pairs; ++p) out.value[(first + r) * nr_pairs + p] = -rho_[p];
    }

    const auto lay_out = [&](const std::vector<std::int64_t>& list, std::size_t from, double* group) {
        std::fill(group, group + d * lanes, 0.0);
        for (std::size_t lane = 0; lane < lanes && from + lane < list.size(); ++lane) {
            const Columns& columns = block.columns[list[from + lane]];
            for (std::int64_t e = 0; e < columns.count(); ++e) group[columns.column[e] * lanes + static_cast<std::int64_t>(lane)] = columns.value[e];
        }
    };
    const std::size_t dense_groups = (block.dense.size() + lanes - 1) / lanes;
    if (dense_groups) {
        block.groups.resize(dense_groups * static_cast<std::size_t>(d * lanes));
        for (std::size_t g = 0; g < dense_groups; ++g) lay_out(block.dense, g * lanes, block.groups.data() + g * static_cast<std::size_t>(d * lanes));
    }
    std::vector<std::int64_t> everyone;
    if (any_centered)
        for (std::int64_t r = 0; r < n; ++r) everyone.push_back(r);

    const auto dense_group = [&](const Expansion& e, const double* x) {
        if (!e.packed_float.empty()) k.quadratic_dense_float(e.packed_float.data(), e.v.data(), d, x, block.sums);
        else if (!e.packed_double.empty()) k.quadratic_dense_double(e.packed_double.data(), e.v.data(), d, x, block.sums);
        else
            for (int lane = 0; lane < lanes; ++lane) {
                block.sums[lane] = 0;
                for (std::int64_t j = 0; j < d; ++j) block.sums[lane] += e.v[j] * x[j * lanes + lane];
            }
    };
    const auto sparse_row = [&](const Expansion& e, const Columns& columns) {
        const std::int32_t* const c = columns.column.data();
        const double* const x = columns.value.data();
        if (!e.packed_float.empty()) return k.quadratic_sparse_float(e.packed_float.data(), row_starts_.data(), e.v.data(), columns.count(), c, x);
        if (!e.packed_double.empty()) return k.quadratic_sparse_double(e.packed_double.data(), row_starts_.data(), e.v.data(), columns.count(), c, x);
        double sum = 0;
        for (std::int64_t i = 0; i < columns.count(); ++i) sum += e.v[c[i]] * x[i];
        return sum;
    };
    const auto add = [&](const Expansion& e, std::int64_t r, double polynomial) {
        // A row so far off that its weight is 0 may have an infinite polynomial.
        if (block.weight[r] != 0) out.value[(first + r) * nr_pairs + e.pair] += block.weight[r] * polynomial;
    };
    const auto weigh = [&](const Center& center, std::int64_t r, double norm) {
        const double weight = std::exp(-gamma_ * norm);
        block.weight[r] = weight > 0 ? weight : 0;  // a norm that overflowed may have become NaN
        block.outside[r] |= !(norm < center.norm_limit);
    };

    std::int64_t weighed = -1;  // the centre whose weights are in the block
    for (const Expansion& e : expansions_) {
        const Center& center = centers_[e.center];
        const bool new_center = weighed != e.center;
        weighed = e.center;
        if (e.centered) {
            block.moved.resize(static_cast<std::size_t>(d * lanes));
            for (std::size_t from = 0; from < everyone.size(); from += lanes) {
                lay_out(everyone, from, block.moved.data());
                double norms[lanes] = {};
                for (std::int64_t j = 0; j < d; ++j)
                    for (int lane = 0; lane < lanes; ++lane) {
                        double& x = block.moved[j * lanes + lane];
                        x -= center.m[j];
                        norms[lane] += x * x;
                    }
                dense_group(e, block.moved.data());
                for (std::size_t lane = 0; lane < lanes && from + lane < everyone.size(); ++lane) {
                    const std::int64_t r = everyone[from + lane];
                    if (gaussian_) {
                        // Entries without a column lie outside every support vector; the centre has nothing there.
                        const Columns& columns = block.columns[r];
                        double rest = 0;
                        if (columns.count() != rows.end(first + r) - rows.begin(first + r))
                            for (std::int64_t i = rows.begin(first + r); i < rows.end(first + r); ++i)
                                if (features_.column(rows.indices[i]) < 0) rest += rows.values[i] * rows.values[i];
                        weigh(center, r, norms[lane] + rest);
                    } else {
                        block.weight[r] = 1;
                    }
                    add(e, r, e.c + block.sums[lane]);
                }
            }
            continue;
        }
        for (std::int64_t r = 0; new_center && r < n; ++r) {
            if (!gaussian_) {
                block.weight[r] = 1;
                continue;
            }
            double norm = rows.squared_norms[first + r];
            if (center.moved) {
                const Columns& columns = block.columns[r];
                double inner = 0;
                for (std::int64_t i = 0; i < columns.count(); ++i) inner += center.m[columns.column[i]] * columns.value[i];
                norm = std::max(norm + center.squared_norm - 2 * inner, 0.0);
            }
            weigh(center, r, norm);
        }
        for (std::int64_t r : block.sparse) add(e, r, e.c + sparse_row(e, block.columns[r]));
        for (std::size_t g = 0; g < dense_groups; ++g) {
            dense_group(e, block.groups.data() + g * static_cast<std::size_t>(d * lanes));
            for (std::size_t lane = 0; lane < lanes && g * lanes + lane < block.dense.size(); ++lane) {
                add(e, block.dense[g * lanes + lane], e.c + block.sums[lane]);
            }
        }
    }
}

}  // namespace fastsvm

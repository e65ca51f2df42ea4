#include "models/expansion.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "exact/values/panels.h"
#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t block_vectors = 128;

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

ExpandedVectors::ExpandedVectors(std::shared_ptr<const Rows> vectors, const std::vector<std::int32_t>& features,
                                 std::vector<std::int64_t> index)
    : vectors_(std::move(vectors)), features_(features), index_(std::move(index)) {
    for (std::int64_t row : index_)
        if (row < 0 || row >= vectors_->rows) throw std::out_of_range("row out of range");
}

void ExpandedVectors::check(const Numbers& center) const {
    if (static_cast<std::int64_t>(center.size()) != features_.size())
        throw std::invalid_argument("wrong number of values");
}

double ExpandedVectors::move(std::size_t i, const Numbers& center, double* out) const {
    const std::int64_t d = features_.size(), vector = index_[i];
    const Rows& rows = *vectors_;
    for (std::int64_t j = 0; j < d; ++j) out[j] = -center[j];
    for (std::int64_t e = rows.begin(vector); e < rows.end(vector); ++e) {
        const std::int32_t column = features_.column(rows.indices[e]);
        if (column >= 0) out[column] = rows.values[e] - center[column];
    }
    double sum = 0;
    for (std::int64_t j = 0; j < d; ++j) sum += out[j] * out[j];
    return sum;
}

std::vector<double> ExpandedVectors::expand(const Numbers& a, const Numbers& center, bool gaussian, double gamma,
                                            const Numbers& factors) const {
    check(center);
    if (a.size() != index_.size() || factors.empty() || factors.size() > max_degree + 1)
        throw std::invalid_argument("wrong number of values");
    const std::int64_t d = features_.size(), n = static_cast<std::int64_t>(index_.size());
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
    const auto lay_out = [&](std::int64_t from, std::int64_t to, double* row, Block& out) {
        out.n = to - from;
        for (std::int64_t i = 0; i < out.n; ++i) {
            const double square = move(from + i, center, row);
            out.weight[i] = gaussian ? a[from + i] * std::exp(-gamma * square) : a[from + i];
            for (std::int64_t j = 0; j < d; j += panel)
                std::copy_n(row + j, std::min<std::int64_t>(panel, d - j),
                            out.panels.data() + j * block_vectors + i * panel);
        }
    };
    for (std::int64_t first = 0; first < n; first += together * block_vectors) {
        const std::int64_t used = std::min(together, (n - first + block_vectors - 1) / block_vectors);
        parallel_for(used, 4, [&](std::int64_t from, std::int64_t to) {
            std::vector<double> row(static_cast<std::size_t>(d));
            for (std::int64_t at = from; at < to; ++at) {
                const std::int64_t begin = first + at * block_vectors;
                lay_out(begin, std::min(n, begin + block_vectors), row.data(), blocks[at]);
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

double ExpandedVectors::largest_squared_distance(const Numbers& center) const {
    check(center);
    Numbers row(center.size());
    double largest = 0;
    for (std::size_t i = 0; i < index_.size(); ++i) largest = std::max(largest, move(i, center, row.data()));
    return largest;
}

std::array<std::vector<double>, 3> ExpandedVectors::column_ranges() const {
    const std::int64_t d = features_.size();
    const Rows& rows = *vectors_;
    std::vector<std::int64_t> count(static_cast<std::size_t>(d), 0);
    std::array<Numbers, 3> out;
    for (Numbers& each : out) each.resize(static_cast<std::size_t>(d));
    auto& [mean, low, high] = out;
    for (std::int64_t vector : index_)
        for (std::int64_t e = rows.begin(vector); e < rows.end(vector); ++e) {
            const std::int32_t j = features_.column(rows.indices[e]);
            if (j < 0) continue;
            const double x = rows.values[e];
            low[j] = count[j] ? std::min(low[j], x) : x;
            high[j] = count[j] ? std::max(high[j], x) : x;
            mean[j] += x;
            ++count[j];
        }
    const std::int64_t n = static_cast<std::int64_t>(index_.size());
    for (std::int64_t j = 0; j < d; ++j) {
        mean[j] /= static_cast<double>(std::max<std::int64_t>(n, 1));
        if (count[j] < n) {
            low[j] = std::min(low[j], 0.0);
            high[j] = std::max(high[j], 0.0);
        }
    }
    return out;
}

namespace {

// Terms beyond `to` until the rest is below 1e-17 of the first one, for arguments up to `size`.
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

// Numbers of the vectors, padded to whole panels.
struct Weights {
    Aligned<double> norms, bare, weighted;  // gamma |x~|^2, a, a e^(-gamma |x~|^2)
    DegreeSeries series;
    std::int64_t panels;
    std::size_t sums() const { return static_cast<std::size_t>(series.to - series.from + 2); }

    Weights(const DegreeNorms& of, const double* squared_norms) : panels(groups(of.n, panel)) {
        for (Aligned<double>* each : {&norms, &bare, &weighted})
            each->assign(static_cast<std::size_t>(panels * panel), 0.0);
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

// Sums over a panel of vectors with all up to it; pairs with earlier ones count twice.
struct PanelSums {
    const Weights& of;
    std::vector<double> others, own;  // (panel, sums, lanes)

    explicit PanelSums(const Weights& weights)
        : of(weights), others(panel * weights.sums() * lanes), own(panel * weights.sums() * lanes) {}

    void clear() {
        std::fill(others.begin(), others.end(), 0.0);
        std::fill(own.begin(), own.end(), 0.0);
    }

    // Adds vector i with `count` others from `first` on, a multiple of `panel`.
    void add(std::int64_t i, std::int64_t first, std::int64_t count, const double* dots) {
        std::vector<double>& to = first / panel == i / panel ? own : others;
        constexpr std::int64_t most = 16 * panel;  // bounds a call's chains of additions
        for (std::int64_t end = first + count; first < end; first += most, dots += most)
            loops().degree_terms(std::min(most, end - first), of.series, of.weighted[i], of.bare[i], of.norms[i], dots,
                                 of.weighted.data() + first, of.bare.data() + first, of.norms.data() + first,
                                 to.data() + static_cast<std::size_t>(i % panel) * of.sums() * lanes);
    }

    void total(double* out) const {
        for (std::size_t t = 0; t < of.sums(); ++t) {
            double total = 0;
            for (std::size_t row = 0; row < panel; ++row) {
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

using Dots = std::vector<double>;

// As the norms' bounds require, no total ends a chain of more than n / 16 + 100 additions: a call adds at most 64
// groups of lanes, in at most n / 32 calls; a part sums its panels, a total its parts.
class PairParts : public DegreeNormParts {
public:
    std::int64_t count() const override { return static_cast<std::int64_t>(ends_.size()); }

    std::vector<double> sums(std::int64_t part) const override {
        const std::int64_t end = end_of(part), begin = part ? ends_[part - 1] : 0;
        const std::size_t size = weights_.sums();
        std::vector<double> panel_sums(static_cast<std::size_t>(end - begin) * size, 0.0);
        parallel_for(end - begin, 1, [&](std::int64_t first, std::int64_t last) {
            PanelSums sums(weights_);
            Dots dots(scratch_);
            // Longest first: no thread is left alone at the end.
            for (std::int64_t at = first; at < last; ++at) {
                const std::int64_t own = end - 1 - at;
                sums.clear();
                face(own, sums, dots);
                sums.total(panel_sums.data() + static_cast<std::size_t>(own - begin) * size);
            }
        });
        std::vector<double> out(size, 0.0);
        for (std::size_t t = 0; t < size; ++t)
            for (std::size_t at = t; at < panel_sums.size(); at += size) out[t] += panel_sums[at];
        return out;
    }

    double share(std::int64_t parts) const override {
        if (!parts) return ends_.empty() ? 1.0 : 0.0;
        const double share = static_cast<double>(end_of(parts - 1)) / static_cast<double>(weights_.panels);
        return share * share;
    }

protected:
    PairParts(const DegreeNorms& of, const double* squared_norms) : of_(of), weights_(of, squared_norms) {}

    std::int64_t end_of(std::int64_t part) const {
        if (part < 0 || part >= count()) throw std::out_of_range("part out of range");
        return ends_[part];
    }
    // work: approximate products per pair of vectors. scratch: length of `dots`.
    void cut(double work, std::size_t scratch) {
        scratch_ = scratch;
        // Short parts, for progress reports and interruption.
        const double pairs_requested = 2e9 / std::max(work, 20.0);
        for (std::int64_t end = 0; end < weights_.panels;) {
            double pairs = 0;
            while (end < weights_.panels && pairs < pairs_requested)
                pairs += static_cast<double>(++end) * panel * panel;
            ends_.push_back(end);
        }
    }

    // Adds a panel's pairs with all vectors up to it.
    virtual void face(std::int64_t own, PanelSums& sums, Dots& dots) const = 0;

    DegreeNorms of_;
    Weights weights_;

private:
    std::vector<std::int64_t> ends_;  // in panels
    std::size_t scratch_ = 0;
};

std::vector<double> norms_of_rows(std::int64_t n, std::int64_t d, const double* x) {
    std::vector<double> squared_norms(static_cast<std::size_t>(n), 0.0);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < d; ++j) squared_norms[i] += x[i * d + j] * x[i * d + j];
    return squared_norms;
}

class DenseParts : public PairParts {
public:
    DenseParts(const DegreeNorms& of, std::int64_t d, const double* x)
        : PairParts(of, norms_of_rows(of.n, d, x).data()), d_(d), x_(x) {
        blocks_.assign(of.n, d);
        for (std::int64_t i = 0; i < of.n; ++i)
            for (std::int64_t j = 0; j < d; ++j) *blocks_.at(i, j) = x[i * d + j];
        cut(static_cast<double>(d), together * panel);
    }

private:
    static constexpr int together = 4;

    void face(std::int64_t own, PanelSums& sums, Dots& dots) const override {
        const std::int64_t last = std::min(of_.n, (own + 1) * panel);
        for (std::int64_t other = 0; other <= own; ++other)
            for (std::int64_t i = own * panel; i < last; i += together) {
                const double* rows[together];
                for (int r = 0; r < together; ++r) rows[r] = x_ + std::min(i + r, last - 1) * d_;
                loops().tile_dots(together, panel, d_, blocks_.at(other * panel, 0), rows, 1, dots.data());
                for (int r = 0; r < together && i + r < last; ++r)
                    sums.add(i + r, other * panel, panel, dots.data() + r * panel);
            }
    }

    std::int64_t d_;
    const double* x_;
    PanelMatrix<double> blocks_;  // (n, d)
};

class SparseParts : public PairParts {
public:
    SparseParts(const DegreeNorms& of, std::int64_t d, const std::int64_t* starts, const std::int32_t* columns,
                const double* values, const double* shift, const double* squared_norms)
        : PairParts(of, squared_norms), d_(d), starts_(starts), columns_(columns), values_(values), shift_(shift) {
        const std::int64_t entries = of.n ? starts[of.n] : 0, padded = weights_.panels * panel;
        // Tiles of vectors, whose products with one vector fit the first-level cache, listed by column; larger if most
        // lists would be empty.
        tile_ = 64 * panel;
        while (tile_ < padded && padded / tile_ * d > 4 * entries) tile_ *= 2;
        const std::int64_t tiles = (padded + tile_ - 1) / tile_;
        list_start_.assign(static_cast<std::size_t>(tiles * d) + 1, 0);
        list_vector_.resize(static_cast<std::size_t>(entries));
        list_value_.resize(static_cast<std::size_t>(entries));
        for (std::int64_t i = 0; i < of.n; ++i)
            for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) ++list_start_[i / tile_ * d + columns[e] + 1];
        for (std::size_t at = 1; at < list_start_.size(); ++at) list_start_[at] += list_start_[at - 1];
        std::vector<std::int64_t> at(list_start_.begin(), list_start_.end() - 1);
        for (std::int64_t i = 0; i < of.n; ++i)
            for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
                const std::int64_t to = at[i / tile_ * d + columns[e]]++;
                list_vector_[to] = static_cast<std::int32_t>(i % tile_);
                list_value_[to] = values[e];
            }
        double shared = 0;  // average products per pair
        for (std::int64_t j = 0; j < d; ++j) {
            double share = 0;
            for (std::int64_t t = 0; t < tiles; ++t)
                share += static_cast<double>(list_start_[t * d + j + 1] - list_start_[t * d + j]);
            share /= static_cast<double>(std::max<std::int64_t>(of.n, 1));
            shared += share * share;
        }
        cut(16 * shared, static_cast<std::size_t>(std::min(tile_, padded)));
    }

private:
    void face(std::int64_t panel_number, PanelSums& sums, Dots& dots) const override {
        const std::int64_t last = std::min(of_.n, (panel_number + 1) * panel), own = panel_number * panel;
        for (std::int64_t from = 0; from <= own; from += tile_) {
            const std::int64_t stop = std::min({from + tile_, own + panel, of_.n});
            for (std::int64_t i = own; i < last; ++i) {
                for (std::int64_t j = from; j < stop; ++j) dots[j - from] = -(shift_[i] + shift_[j]);
                std::fill(dots.begin() + (stop - from), dots.end(), 0.0);
                const std::int64_t* const lists = list_start_.data() + from / tile_ * d_;
                for (std::int64_t e = starts_[i]; e < starts_[i + 1]; ++e) {
                    const double value = values_[e];
                    for (std::int64_t at = lists[columns_[e]]; at < lists[columns_[e] + 1]; ++at)
                        dots[list_vector_[at]] += value * list_value_[at];
                }
                // Products beyond `stop` are ignored, or have a weight of 0.
                const std::int64_t before = std::min(own, from + tile_) - from;
                if (before > 0) sums.add(i, from, before, dots.data());
                if (own < from + tile_) sums.add(i, own, panel, dots.data() + (own - from));
            }
        }
    }

    std::int64_t d_;
    const std::int64_t* starts_;
    const std::int32_t* columns_;
    const double *values_, *shift_;
    std::int64_t tile_;
    std::vector<std::int64_t> list_start_;
    std::vector<std::int32_t> list_vector_;  // within its tile
    std::vector<double> list_value_;
};

}  // namespace

std::unique_ptr<DegreeNormParts> degree_norm_parts(const DegreeNorms& of, std::int64_t d, const double* x) {
    return std::make_unique<DenseParts>(of, d, x);
}

std::unique_ptr<DegreeNormParts> degree_norm_parts(const DegreeNorms& of, std::int64_t d, const std::int64_t* starts,
                                                   const std::int32_t* columns, const double* values,
                                                   const double* shift, const double* squared_norms) {
    return std::make_unique<SparseParts>(of, d, starts, columns, values, shift, squared_norms);
}

}  // namespace fastsvm

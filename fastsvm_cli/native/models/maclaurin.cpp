#include "models/maclaurin.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {
constexpr std::int64_t block_rows = 128;
constexpr std::size_t most_degrees_left_out = 20;  // W_n that a certificate may have, and W_{>N}
constexpr double up = 1 + 1e-9;  // a radius is itself computed in floating point: far fewer than 1e6 roundings
}  // namespace

Maclaurin::Maclaurin(std::vector<std::int32_t> features, bool gaussian, double gamma, int degree,
                     std::vector<double> rho)
    : features_(std::move(features)), gaussian_(gaussian), gamma_(gamma), degree_(degree), rho_(std::move(rho)) {
    if (degree < 0 || degree > max_degree) throw std::invalid_argument("a degree that no expansion has");
    const std::int64_t d = dimension();
    // Where the share of the monomials that a row's entries have is 0.16.
    const auto dense = [&](std::int64_t entries) {
        const double share = static_cast<double>(entries) / static_cast<double>(std::max<std::int64_t>(d, 1));
        return degree_ >= 2 && std::pow(share, degree_) > 0.16;
    };
    std::int64_t low = 0, high = d + 1;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (dense(middle))
            high = middle;
        else
            low = middle + 1;
    }
    dense_from_ = low;
}

void Maclaurin::add_center(const double* m, double largest_norm) {
    Center center;
    center.m.assign(m, m + dimension());
    center.squared_norm = 0;
    for (double x : center.m) center.squared_norm += x * x;
    center.moved = center.squared_norm != 0;
    center.largest_norm = largest_norm;
    // eq. (3.11): |x_M|^2 |z|^2 < 1 / (16 gamma^2). Finite expansions have no bound to keep.
    const double limit = 16 * gamma_ * gamma_ * largest_norm;
    center.norm_limit = gaussian_ && limit > 0 ? 1 / limit : std::numeric_limits<double>::infinity();
    // |x - z| >= |z - m| - r; gamma (|z - m| - r)^2 >= 27.7 > ln 1e12, with room for the rounding of |z - m|^2.
    const double reach = std::sqrt(largest_norm) * up + std::sqrt(27.7 / gamma_);
    center.far_norm = gaussian_ && gamma_ > 0 ? reach * reach : std::numeric_limits<double>::infinity();
    centers_.push_back(std::move(center));
}

// A new expansion, entered with its certificate.
Maclaurin::Expansion& Maclaurin::check(std::int64_t pair, std::int64_t center, const Certificate* certificate) {
    if (pair < 0 || pair >= pairs() || center < 0 || center >= static_cast<std::int64_t>(centers_.size()))
        throw std::out_of_range("expansion of an unknown pair or center");
    // What a row takes from its centre for one radius serves all of them: they leave out the same degrees.
    if (certificate &&
        (certificate->truncation.size() > most_degrees_left_out ||
         static_cast<int>(certificate->error.size()) != degree_ + 1 ||
         (!expansions_.empty() && certificate->truncation.size() != expansions_[0].certificate.truncation.size())))
        throw std::invalid_argument("wrong size of a certificate");
    expansions_.emplace_back();
    Expansion& e = expansions_.back();
    e.pair = pair;
    e.center = center;
    if (certificate) {
        e.certificate = *certificate;
        ++certificates_;
        pair_weight_.resize(rho_.size());
        pair_count_.resize(rho_.size());
        pair_weight_[static_cast<std::size_t>(pair)] += certificate->weight * up;
        pair_count_[static_cast<std::size_t>(pair)] += certificate->count;
    }
    return e;
}

void Maclaurin::add_compressed(std::int64_t pair, std::int64_t center_number, const double* constant_and_v,
                               std::int64_t rank, const double* lambda, const double* q, bool single,
                               const Certificate* certificate) {
    const auto stored = [single](double x) { return single ? static_cast<double>(static_cast<float>(x)) : x; };
    const std::int64_t d = dimension();
    Expansion& e = check(pair, center_number, certificate);
    const std::vector<double>& m = centers_[static_cast<std::size_t>(center_number)].m;
    e.constant = stored(constant_and_v[0]);
    e.norms[0] = std::fabs(e.constant) * up;
    e.levels.emplace_back();
    double squares = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        const double v = stored(constant_and_v[1 + j]);
        e.levels[0].push_back(v);
        e.constant -= v * m[static_cast<std::size_t>(j)];
        squares += v * v;
    }
    e.norms[1] = std::sqrt(squares) * up;
    e.norms[2] = 0;
    e.lambda.resize(static_cast<std::size_t>(rank));
    e.q.resize(static_cast<std::size_t>(rank * d));
    e.q_center.assign(static_cast<std::size_t>(rank), 0.0);
    for (std::int64_t r = 0; r < rank; ++r) {
        double square = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            const double x = stored(q[r * d + j]);
            e.q[static_cast<std::size_t>(j * rank + r)] = x;
            e.q_center[static_cast<std::size_t>(r)] -= x * m[static_cast<std::size_t>(j)];
            square += x * x;
        }
        e.lambda[static_cast<std::size_t>(r)] = stored(lambda[r]);
        e.norms[2] += std::fabs(e.lambda[static_cast<std::size_t>(r)]) * square * up;
    }
}

void Maclaurin::add_expansion(std::int64_t pair, std::int64_t center_number, const double* coefficients, bool single,
                              const Certificate* certificate) {
    const std::int64_t d = dimension();
    Expansion& e = check(pair, center_number, certificate);
    const Center& center = centers_[static_cast<std::size_t>(center_number)];

    // Tensor entries -> coefficients of monomials, and the tensors' norms.
    std::vector<std::vector<double>> about_center;  // degree 0, 1, ...
    const double* entry = coefficients;
    double largest_entry = 0;
    for (int k = 0; k <= degree_; ++k) {
        std::vector<double> level(static_cast<std::size_t>(packed_size(k, d)));
        double squares = 0;
        for_each_monomial(k, d, [&](std::int64_t position, double orderings) {
            // The shortest text of a single-precision number names it only once it is rounded back to single precision.
            const double x = single ? static_cast<double>(static_cast<float>(*entry)) : *entry;
            ++entry;
            level[static_cast<std::size_t>(position)] = x * orderings;
            squares += x * x * orderings;
            largest_entry = std::max(largest_entry, std::fabs(x));
        });
        e.norms[k] = length(squares, static_cast<double>(packed_size(k, d)) * 24);
        about_center.push_back(std::move(level));
    }

    // In raw coordinates: sum_k p_k(z - m) = sum_k sum_r (-1)^r / r! D_m^r p_k (z). A far centre makes the terms
    // cancel, in the polynomial and in the exponent gamma |z - m|^2; where less than 11 or so digits would be left, z -
    // m is formed row by row instead.
    e.centered = false;
    std::vector<std::vector<double>> raw = about_center;
    if (center.moved) {
        const double far = std::sqrt(center.squared_norm);
        double lost = 0, power = 1;
        for (int k = 0; k <= degree_; ++k, power *= 2 * far) lost += e.norms[k] * power;
        e.centered =
            lost * unit > 1e-12 * largest_entry || (gaussian_ && gamma_ * center.squared_norm * 4 * unit > 1e-12);
        for (int k = 1; !e.centered && k <= degree_; ++k) {
            std::vector<double> work = about_center[static_cast<std::size_t>(k)];
            double factor = 1;
            for (int r = 1; r <= k; ++r) {
                std::vector<double> next(static_cast<std::size_t>(packed_size(k - r, d)), 0.0);
                add_derivative(k - r + 1, d, work.data(), center.m.data(), next.data());
                work = std::move(next);
                factor *= -1.0 / r;
                std::vector<double>& target = raw[static_cast<std::size_t>(k - r)];
                for (std::size_t i = 0; i < target.size(); ++i) target[i] += factor * work[i];
            }
        }
    }
    e.constant = raw[0][0];
    e.levels.assign(std::make_move_iterator(raw.begin() + 1), std::make_move_iterator(raw.end()));
    // The highest degree does not change with the origin: single precision it was, single precision it stays. (Doubling
    // and the like are exact; tripling is not, hence degree 2 only.) Double in memory while it stays in cache: that
    // saves a conversion per product.
    if (single && degree_ == 2 && e.levels.back().size() * 8 > (1 << 19)) {
        e.top_float.assign(e.levels.back().begin(), e.levels.back().end());
        e.levels.back() = {};
    }
}

// Rows of one block, sorted into sparse ones (their columns) and groups of `lanes` dense ones (transposed, (d, lanes)).
struct Maclaurin::Block {
    std::vector<Columns> columns;     // per row of the block
    std::vector<std::int64_t> dense;  // rows of the block done side by side
    std::vector<std::int64_t> sparse;
    std::vector<double> groups;  // (groups, d, lanes) in raw coordinates
    std::vector<double> moved;   // (d, lanes): a group about a centre
    std::vector<double> norm;    // (centres, block_rows): |z - m|^2
    std::vector<double> weight;  // (centres, block_rows): exp(-gamma |z - m|^2)
    std::vector<Near> near;      // per row of the block, from the centre at hand, when radii are wanted
    std::vector<char> far;       // (centres, block_rows)
    std::vector<char> outside;
    std::vector<double> scratch;
};

// B1 to B7 of bounds.py have the argument; the names are theirs.
struct Maclaurin::Near {
    double tail[most_degrees_left_out];  // sqrt of the share of each degree left out, and of all beyond
    double weight;                       // upper bound of exp(-gamma |z - m|^2)
    double distance[max_degree + 1];     // |z - m|^k, upper bounds
    double reach[max_degree + 1];        // (|z| + |m|)^k, or |z - m|^k where the row is centred
    double exponent_error;               // of the computed weight, relative
};

// How far a computed |z - m|^2 can be from the true one (B4; B7: what underflows).
double Maclaurin::norm_slack(const Center& center, const Rows& rows, std::int64_t row, double norm,
                             bool centered) const {
    const double d = static_cast<double>(dimension()), q = static_cast<double>(rows.end(row) - rows.begin(row));
    if (centered) return (d + q + 8) * unit * norm + (d + q) * 4e-308;
    const double size = length(rows.squared_norms[row], q) + length(center.squared_norm, d);
    return (d + q + 8) * unit * size * size + (d + q) * 4e-308;
}

// Whether every support vector of a centre is so far from a row that K < 1e-12. Overflow, in either direction, is not
// far.
bool Maclaurin::is_far(const Center& center, const Rows& rows, std::int64_t row, double norm, bool centered) const {
    const double slack = norm_slack(center, rows, row, norm, centered);
    return slack < std::numeric_limits<double>::infinity() && norm - slack > center.far_norm;
}

Maclaurin::Near Maclaurin::near(const Center& center, const Rows& rows, std::int64_t row, double norm,
                                bool centered) const {
    Near out;
    const double d = static_cast<double>(dimension()), q = static_cast<double>(rows.end(row) - rows.begin(row));
    const double z = length(rows.squared_norms[row], q), m = length(center.squared_norm, d);
    const double slack = norm_slack(center, rows, row, norm, centered);
    const double low = std::max(norm - slack, 0.0), high = norm + slack;
    out.weight = gaussian_ ? std::exp(-gamma_ * low) * up : 1;
    // B4
    out.exponent_error = gaussian_ ? gamma_ * slack * 1.01 + (8 + gamma_ * norm) * unit : 0;
    if (gaussian_ && !(gamma_ * slack < 1e-2)) out.exponent_error = std::numeric_limits<double>::infinity();
    out.distance[0] = out.reach[0] = 1;
    for (int k = 1; k <= degree_; ++k) {
        out.distance[k] = out.distance[k - 1] * std::sqrt(high) * up;
        out.reach[k] = centered ? out.distance[k] : out.reach[k - 1] * (z + m) * up;
    }
    if (!gaussian_ || expansions_[0].certificate.truncation.empty()) return out;
    // B1: e^-t t^n / n! rises up to t = n and falls beyond; t is known to lie between 2 gamma low and 2 gamma high.
    const int last = degree_ + static_cast<int>(expansions_[0].certificate.truncation.size()) - 1;  // N
    const double t_low = 2 * gamma_ * low, t_high = 2 * gamma_ * high;
    int at = 0;
    for (int n = degree_ + 1; n <= last; ++n) {
        const double t = std::clamp(static_cast<double>(n), t_low, t_high);
        out.tail[at++] = t > 0 ? std::exp(0.5 * (n * std::log(t) - t - std::lgamma(n + 1.0))) * up : 0;
    }
    out.tail[at] =
        t_high > 0 ? std::min(1.0, std::exp(0.5 * ((last + 1) * std::log(t_high) - std::lgamma(last + 2.0))) * up) : 0;
    return out;
}

double Maclaurin::radius(const Expansion& e, const Near& near, double term) const {
    double truncation = 0, stored = 0, rounding = 0;  // B1, B2, B3
    for (std::size_t i = 0; i < e.certificate.truncation.size(); ++i)
        truncation += e.certificate.truncation[i] * near.tail[i];
    for (int k = 0; k <= degree_; ++k) {
        stored += e.certificate.error[static_cast<std::size_t>(k)] * near.distance[k];
        rounding += e.norms[k] * near.reach[k];
    }
    const double operations =
        2.0 * degree_ * (static_cast<double>(dimension()) + degree_ + 6) + 20 + static_cast<double>(e.lambda.size());
    return truncation + near.weight * (stored + operations * unit * rounding) +
           std::fabs(term) * (near.exponent_error * 1.01 + 4 * unit);
}

// Finite kernels are expanded about the origin: the center's largest norm is that of the vectors.
KernelRounding Maclaurin::kernel_rounding(const Rows& rows, std::int64_t row) const {
    const double q = static_cast<double>(rows.end(row) - rows.begin(row)), s = longest_vector_;
    if (gaussian_) return svm_predict_kernel_rounding(exact_kernel_, q, s, 0, 0);
    return svm_predict_kernel_rounding(exact_kernel_, q, s, length(rows.squared_norms[row], q),
                                       length(centers_[0].largest_norm, s + 4));
}

void Maclaurin::polynomial_dense(const Expansion& e, const double* x, double* out) const {
    const double* levels[max_degree];
    for (std::size_t k = 0; k < e.levels.size(); ++k) levels[k] = e.levels[k].data();
    if (degree_ == 0)
        std::fill(out, out + lanes, 0.0);
    else if (!e.top_float.empty())
        loops().polynomial_dense_float(degree_, levels, e.top_float.data(), dimension(), x, out);
    else
        loops().polynomial_dense_double(degree_, levels, e.levels.back().data(), dimension(), x, out);
}

double Maclaurin::polynomial_sparse(const Expansion& e, const Columns& columns) const {
    const double* levels[max_degree];
    for (std::size_t k = 0; k < e.levels.size(); ++k) levels[k] = e.levels[k].data();
    const std::int32_t* const c = columns.column.data();
    const double* const x = columns.value.data();
    if (degree_ == 0) return 0;
    if (!e.top_float.empty())
        return loops().polynomial_sparse_float(degree_, levels, e.top_float.data(), dimension(), columns.count(), c, x);
    return loops().polynomial_sparse_double(degree_, levels, e.levels.back().data(), dimension(), columns.count(), c,
                                            x);
}

double Maclaurin::compressed(const Expansion& e, const Columns& columns, std::vector<double>& scratch) const {
    const std::size_t rank = e.lambda.size();
    scratch.assign(e.q_center.begin(), e.q_center.end());
    double sum = 0;
    for (std::int64_t i = 0; i < columns.count(); ++i) {
        const std::size_t column = static_cast<std::size_t>(columns.column[static_cast<std::size_t>(i)]);
        const double x = columns.value[static_cast<std::size_t>(i)];
        sum += e.levels[0][column] * x;
        loops().add_scaled(static_cast<std::int64_t>(rank), x, e.q.data() + column * rank, scratch.data());
    }
    for (std::size_t r = 0; r < rank; ++r) sum += e.lambda[r] * scratch[r] * scratch[r];
    return sum;
}

// |z - m|^2 and its exponential, for every row of the block and every centre, in raw coordinates.
void Maclaurin::weigh(const Rows& rows, std::int64_t first, std::int64_t n, Block& block) const {
    block.norm.assign(centers_.size() * block_rows, 0.0);
    for (std::size_t c = 0; c < centers_.size(); ++c) {
        const Center& center = centers_[c];
        double* const norm = block.norm.data() + c * block_rows;
        for (std::int64_t r = 0; r < n; ++r) {
            norm[r] = rows.squared_norms[first + r];
            if (!center.moved) continue;
            const Columns& columns = block.columns[r];
            double inner = 0;
            for (std::int64_t i = 0; i < columns.count(); ++i) inner += center.m[columns.column[i]] * columns.value[i];
            norm[r] = std::max(norm[r] + center.squared_norm - 2 * inner, 0.0);
        }
    }
    if (!gaussian_) {
        block.weight.assign(block.norm.size(), 1.0);
        return;
    }
    block.weight = block.norm;
    loops().exp_of_norms(static_cast<std::int64_t>(block.weight.size()), gamma_, block.weight.data());
}

void Maclaurin::decision_values(const Rows& rows, Decisions& out) const {
    out.resize(rows.rows);
    out.is_outside.resize(static_cast<std::size_t>(rows.rows));
    std::atomic<std::int64_t> outside{0};
    parallel_workers(rows.rows, block_rows, [&](Parts& parts) {
        Block block;
        std::int64_t found = 0;
        for (std::int64_t first, last; parts.next(first, last);) {
            evaluate(rows, first, last, block, out);
            for (std::int64_t r = 0; r < last - first; ++r) found += block.outside[r];
            std::copy_n(block.outside.data(), last - first, out.is_outside.data() + first);
        }
        outside += found;
    });
    out.outside = outside;
}

void Maclaurin::evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, Decisions& out) const {
    const std::int64_t n = last - first, d = dimension();
    const std::int64_t nr_pairs = pairs();
    const bool radii = out.with_radius;
    block.columns.resize(block_rows);
    block.outside.assign(block_rows, 0);
    if (radii) block.near.resize(block_rows);
    block.far.assign(centers_.size() * block_rows, 0);
    block.dense.clear();
    block.sparse.clear();

    for (std::int64_t r = 0; r < n; ++r) {
        Columns& columns = block.columns[r];
        const std::int64_t begin = rows.begin(first + r);
        columns.take(features_, rows.indices.data() + begin, rows.values.data() + begin, rows.end(first + r) - begin);
        (columns.count() >= dense_from_ ? block.dense : block.sparse).push_back(r);
        // A model of one class has no pairs, and need not have a centre.
        const KernelRounding of_kernel = radii && nr_pairs ? kernel_rounding(rows, first + r) : KernelRounding{};
        for (std::int64_t p = 0; p < nr_pairs; ++p) {
            out.value[(first + r) * nr_pairs + p] = 0;
            if (radii)
                out.radius[(first + r) * nr_pairs + p] =
                    svm_predict_rounding(of_kernel, pair_weight_[p], pair_count_[p], rho_[p]) +
                    2 * unit * std::fabs(rho_[p]);  // B5, B6
        }
    }

    const auto lay_out = [&](const std::vector<std::int64_t>& list, std::size_t from, double* group) {
        std::fill(group, group + d * lanes, 0.0);
        for (std::size_t lane = 0; lane < lanes && from + lane < list.size(); ++lane) {
            const Columns& columns = block.columns[list[from + lane]];
            for (std::int64_t e = 0; e < columns.count(); ++e)
                group[columns.column[e] * lanes + static_cast<std::int64_t>(lane)] = columns.value[e];
        }
    };
    const std::size_t dense_groups = (block.dense.size() + lanes - 1) / lanes;
    if (dense_groups) {
        block.groups.resize(dense_groups * static_cast<std::size_t>(d * lanes));
        for (std::size_t g = 0; g < dense_groups; ++g)
            lay_out(block.dense, g * lanes, block.groups.data() + g * static_cast<std::size_t>(d * lanes));
    }
    std::vector<std::int64_t> everyone(static_cast<std::size_t>(n));
    for (std::int64_t r = 0; r < n; ++r) everyone[static_cast<std::size_t>(r)] = r;

    weigh(rows, first, n, block);

    // What is left to do for a centre once its norms and weights are known. Where pairs have several, rows that are far
    // from one leave it out.
    const bool skips = static_cast<std::int64_t>(expansions_.size()) > nr_pairs;
    const auto arrive = [&](std::int64_t c, std::int64_t r, bool centered) {
        const Center& center = centers_[c];
        double& weight = block.weight[c * block_rows + r];
        const double norm = block.norm[c * block_rows + r];
        // Far once is far for good: where the norm is computed again, another way, the weight is gone already.
        const bool far = skips && (block.far[c * block_rows + r] || is_far(center, rows, first + r, norm, centered));
        block.far[c * block_rows + r] = far;
        if (far || !(weight > 0)) weight = 0;  // a norm that overflowed may have become NaN
        block.outside[r] |= gaussian_ && !far && !(norm < center.norm_limit);
        if (radii && !far) block.near[r] = near(center, rows, first + r, norm, centered);
    };
    const auto add = [&](const Expansion& e, std::int64_t r, double polynomial) {
        const std::int64_t at = (first + r) * nr_pairs + e.pair;
        const double weight = block.weight[e.center * block_rows + r];
        // A row so far off that its weight is 0 may have an infinite polynomial.
        const double term = weight != 0 ? weight * polynomial : 0;
        out.value[at] += term;
        if (!radii) return;
        out.radius[at] +=
            static_cast<double>(expansions_.size()) * unit * std::fabs(term);  // B6: the sum over expansions
        out.radius[at] +=
            block.far[e.center * block_rows + r] ? e.certificate.weight * 1e-12 : radius(e, block.near[r], term);
    };
    const auto anyone = [&](const Expansion& e, const std::vector<std::int64_t>& list, std::size_t from) {
        for (std::size_t lane = 0; lane < lanes && from + lane < list.size(); ++lane)
            if (block.weight[e.center * block_rows + list[from + lane]] != 0) return true;
        return false;
    };

    double sums[lanes] = {};
    std::int64_t arrived = -1;  // the centre that the block has arrived at, and how its norms were computed
    for (const Expansion& e : expansions_) {
        const Center& center = centers_[e.center];
        const bool new_center = arrived != 2 * e.center + e.centered;
        arrived = 2 * e.center + e.centered;
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
                polynomial_dense(e, block.moved.data(), sums);
                for (std::size_t lane = 0; lane < lanes && from + lane < everyone.size(); ++lane) {
                    const std::int64_t r = everyone[from + lane];
                    // Entries without a column lie outside every support vector; the centre has nothing there.
                    double rest = 0;
                    if (block.columns[r].count() != rows.end(first + r) - rows.begin(first + r))
                        for (std::int64_t i = rows.begin(first + r); i < rows.end(first + r); ++i)
                            if (features_.column(rows.indices[i]) < 0) rest += rows.values[i] * rows.values[i];
                    block.norm[e.center * block_rows + r] = norms[lane] + rest;
                    block.weight[e.center * block_rows + r] = gaussian_ ? std::exp(-gamma_ * (norms[lane] + rest)) : 1;
                    arrive(e.center, r, true);
                    add(e, r, e.constant + sums[lane]);
                }
            }
            continue;
        }
        for (std::int64_t r = 0; new_center && r < n; ++r) arrive(e.center, r, false);
        if (!e.lambda.empty()) {
            for (std::int64_t r = 0; r < n; ++r)
                add(e, r,
                    block.weight[e.center * block_rows + r] != 0
                        ? e.constant + compressed(e, block.columns[r], block.scratch)
                        : 0);
            continue;
        }
        for (std::int64_t r : block.sparse)
            add(e, r,
                block.weight[e.center * block_rows + r] != 0 ? e.constant + polynomial_sparse(e, block.columns[r]) : 0);
        for (std::size_t from = 0; from < block.dense.size(); from += lanes) {
            if (anyone(e, block.dense, from))
                polynomial_dense(e, block.groups.data() + from * static_cast<std::size_t>(d), sums);
            for (std::size_t lane = 0; lane < lanes && from + lane < block.dense.size(); ++lane)
                add(e, block.dense[from + lane], e.constant + sums[lane]);
        }
    }
    for (std::int64_t r = first; r < last; ++r)
        for (std::int64_t p = 0; p < nr_pairs; ++p) out.value[r * nr_pairs + p] -= rho_[p];
    if (radii)
        for (std::int64_t i = first * nr_pairs; i < last * nr_pairs; ++i) {
            // NaN, from overflow, proves nothing.
            double& radius = out.radius[i];
            radius = (radius + 4 * unit * std::fabs(out.value[i])) * up + 1e-200;  // B6, B7
            if (!(radius == radius) || !(out.value[i] == out.value[i]))
                radius = std::numeric_limits<double>::infinity();
        }
}

}  // namespace fastsvm

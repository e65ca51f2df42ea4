#include "models/maclaurin.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

#include "engine/header.h"
#include "engine/libsvm_file.h"
#include "engine/model.h"
#include "exact/reference/rounding.h"
#include "simd/loops.h"
#include "simd/parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t maclaurin_rows = 128;

// Numbers per line; from degree 2, a line per first index.
std::vector<std::int64_t> line_lengths(int degree, std::int64_t rank, std::int64_t d) {
    std::vector<std::int64_t> out{1};
    if (degree >= 1 && d) out.push_back(d);
    if (rank) {
        out.push_back(rank);
        out.insert(out.end(), static_cast<std::size_t>(rank), d);
        return out;
    }
    for (int k = 2; k <= degree; ++k)
        for (std::int64_t j = 0; j < d; ++j) out.push_back(packed_size(k - 1, d - j));
    return out;
}

}  // namespace

Maclaurin::~Maclaurin() = default;

Maclaurin::Maclaurin(std::vector<std::int32_t> features, bool gaussian, double gamma, int degree,
                     std::vector<double> rho)
    : features_(std::move(features)),
      bounds_{gaussian, gamma, degree, static_cast<double>(dimension())},
      rho_(std::move(rho)) {
    if (degree < 0 || degree > max_degree) throw std::invalid_argument("a degree that no expansion has");
    const std::int64_t d = dimension();
    // Rows are dense if their entries give more than 0.16 of all monomials.
    const auto dense = [&](std::int64_t entries) {
        const double share = static_cast<double>(entries) / static_cast<double>(std::max<std::int64_t>(d, 1));
        return degree >= 2 && std::pow(share, degree) > 0.16;
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

void Maclaurin::add_expansion(std::int64_t pair, std::int64_t center, const double* coefficients, std::int64_t rank,
                              bool single, const Certificate* certificate) {
    if (pair < 0 || pair >= pairs() || center < 0 || center >= static_cast<std::int64_t>(centers_.size()))
        throw std::out_of_range("expansion of an unknown pair or center");
    // Expansions share a row's bounds per center.
    if (certificate &&
        (certificate->truncation.size() > most_degrees_left_out ||
         static_cast<int>(certificate->error.size()) != degree() + 1 ||
         (!expansions_.empty() && certificate->truncation.size() != expansions_[0].certificate.truncation.size())))
        throw std::invalid_argument("wrong size of a certificate");
    const Center& about = centers_[static_cast<std::size_t>(center)];
    const double gamma = bounds_.gaussian ? bounds_.gamma : 0;
    expansions_.push_back({pair, center,
                           rank ? Polynomial(coefficients, rank, about, single)
                                : Polynomial(coefficients, degree(), about, single, gamma),
                           certificate ? *certificate : Certificate{}});
    make_group();
    if (!certificate) return;
    ++certificates_;
    pair_weight_.resize(rho_.size());
    pair_count_.resize(rho_.size());
    pair_weight_[static_cast<std::size_t>(pair)] += certificate->weight * up;
    pair_count_[static_cast<std::size_t>(pair)] += certificate->count;
}

// Makes a panel of the last expansions, if they fill one.
void Maclaurin::make_group() {
    const Expansion& last = expansions_.back();
    const std::size_t before = expansions_.size() - 1;
    if (before > alone_from_) {
        const Expansion& neighbour = expansions_[before - 1];
        if (neighbour.center != last.center || neighbour.pair + 1 != last.pair ||
            !last.polynomial.fits_beside(neighbour.polynomial))
            alone_from_ = before;
    }
    if (expansions_.size() - alone_from_ < lanes) return;
    Polynomial* side_by_side[lanes];
    for (std::size_t i = 0; i < lanes; ++i) side_by_side[i] = &expansions_[alone_from_ + i].polynomial;
    expansions_[alone_from_].beside = side_by_side_.size();
    side_by_side_.emplace_back(side_by_side);
    alone_from_ = expansions_.size();
}

// A block's rows: sparse ones by columns, dense ones in groups of `lanes`, (d, lanes).
struct Maclaurin::Block {
    std::int64_t padded_rows = 0;     // of rows, in whole lanes
    std::vector<Columns> columns;     // per row
    std::vector<std::int64_t> dense;  // row numbers
    std::vector<std::int64_t> sparse;
    std::vector<std::int64_t> everyone;
    std::vector<double> groups;       // (groups, d, lanes) in raw coordinates
    std::vector<double> moved;        // (d, lanes): a group about a center
    std::vector<double> norm;         // (centers, lanes): |z - m|^2
    std::vector<double> weight;       // (centers, lanes): exp(-gamma |z - m|^2)
    std::vector<RowFromCenter> seen;  // per row, about the current center
    std::vector<char> far;            // (centers, lanes)
    std::vector<char> outside;
    std::vector<double> scratch;
};

// Finite kernels expand about the origin: its largest norm is the vectors'.
KernelRounding Maclaurin::kernel_rounding(const Rows& rows, std::int64_t row) const {
    const double q = static_cast<double>(rows.end(row) - rows.begin(row)), s = longest_vector_;
    if (bounds_.gaussian) return svm_predict_kernel_rounding(exact_kernel_, q, s, 0, 0);
    return svm_predict_kernel_rounding(exact_kernel_, q, s, length(rows.squared_norms[row], q),
                                       length(centers_[0].largest_norm, s + 4));
}

// |z - m|^2 and its exponential, per row and center, in raw coordinates.
void Maclaurin::weigh(const Rows& rows, std::int64_t first, std::int64_t n, Block& block) const {
    block.norm.assign(centers_.size() * static_cast<std::size_t>(block.padded_rows), 0.0);
    for (std::size_t c = 0; c < centers_.size(); ++c) {
        const Center& center = centers_[c];
        double* const norm = block.norm.data() + c * block.padded_rows;
        for (std::int64_t r = 0; r < n; ++r) {
            norm[r] = rows.squared_norms[first + r];
            if (!center.moved) continue;
            const Columns& columns = block.columns[r];
            double inner = 0;
            for (std::int64_t i = 0; i < columns.count(); ++i) inner += center.m[columns.column[i]] * columns.value[i];
            norm[r] = std::max(norm[r] + center.squared_norm - 2 * inner, 0.0);
        }
    }
    if (!bounds_.gaussian) {
        block.weight.assign(block.norm.size(), 1.0);
        return;
    }
    block.weight = block.norm;
    loops().exp_of_norms(static_cast<std::int64_t>(block.weight.size()), bounds_.gamma, block.weight.data());
}

void Maclaurin::decision_values(const Rows& rows, Decisions& out) const {
    if (out.with_radius && !certified())
        throw std::invalid_argument("radii requested from a model without certificates");
    out.resize(rows.rows);
    out.is_outside.resize(static_cast<std::size_t>(rows.rows));
    std::atomic<std::int64_t> outside{0};
    // Fewer rows if their values would not fit the second-level cache.
    const std::int64_t in_cache = (std::int64_t{1} << 16) / std::max<std::int64_t>(pairs(), 1) / lanes * lanes;
    const std::int64_t rows_at_once = std::clamp<std::int64_t>(in_cache, 2 * lanes, maclaurin_rows);
    parallel_workers(rows.rows, rows_at_once, [&](Parts& parts) {
        const auto leased = blocks_.lease();
        Block& block = *leased;
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
    const std::int64_t padded_rows = block.padded_rows = whole(n, lanes);
    const std::size_t size = static_cast<std::size_t>(padded_rows);
    if (block.columns.size() < size) block.columns.resize(size);
    block.outside.assign(size, 0);
    if (radii) block.seen.resize(size);
    block.far.assign(centers_.size() * size, 0);
    block.dense.clear();
    block.sparse.clear();

    for (std::int64_t r = 0; r < n; ++r) {
        Columns& columns = block.columns[r];
        columns.take(features_, rows, first + r);
        (columns.count() >= dense_from_ ? block.dense : block.sparse).push_back(r);
        // A model of one class has no pairs, and maybe no center.
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
    std::vector<std::int64_t>& everyone = block.everyone;
    everyone.resize(static_cast<std::size_t>(n));
    std::iota(everyone.begin(), everyone.end(), 0);

    weigh(rows, first, n, block);

    // Completes a row's data about a center. With several expansions per pair, far rows skip theirs.
    const std::size_t left_out = expansions_.empty() ? 0 : expansions_[0].certificate.truncation.size();
    const bool skips = static_cast<std::int64_t>(expansions_.size()) > nr_pairs;
    const auto arrive = [&](std::int64_t c, std::int64_t r, bool centered) {
        const Center& center = centers_[c];
        double& weight = block.weight[c * padded_rows + r];
        const double norm = block.norm[c * padded_rows + r];
        // Far rows stay far, as their weight is already 0, even if the norm is recomputed differently.
        const bool far =
            skips && (block.far[c * padded_rows + r] || bounds_.is_far(center, rows, first + r, norm, centered));
        block.far[c * padded_rows + r] = far;
        if (far || !(weight > 0)) weight = 0;  // an overflowed norm may have become NaN
        block.outside[r] |= bounds_.gaussian && !far && !(norm < center.norm_limit);
        if (radii && !far) block.seen[r] = bounds_.row_from(center, rows, first + r, norm, centered, left_out);
    };
    const auto add = [&](const Expansion& e, std::int64_t r, double polynomial) {
        const std::int64_t at = (first + r) * nr_pairs + e.pair;
        const double weight = block.weight[e.center * padded_rows + r];
        // A far row's polynomial may be infinite.
        const double term = weight != 0 ? weight * polynomial : 0;
        out.value[at] += term;
        if (!radii) return;
        out.radius[at] +=
            static_cast<double>(expansions_.size()) * unit * std::fabs(term);  // B6: the sum over expansions
        out.radius[at] +=
            block.far[e.center * padded_rows + r]
                ? e.certificate.weight * 1e-12  // B35
                : bounds_.radius(e.certificate, e.polynomial.norms(), e.polynomial.rank(), block.seen[r], term);
    };
    const auto anyone = [&](const Expansion& e, const std::vector<std::int64_t>& list, std::size_t from) {
        for (std::size_t lane = 0; lane < lanes && from + lane < list.size(); ++lane)
            if (block.weight[e.center * padded_rows + list[from + lane]] != 0) return true;
        return false;
    };

    double sums[lanes] = {};
    std::int64_t arrived = -1;  // current center, and how its norms were computed
    for (std::size_t at = 0; at < expansions_.size(); ++at) {
        const Expansion& e = expansions_[at];
        const Center& center = centers_[e.center];
        const bool centered = e.polynomial.centered(), new_center = arrived != 2 * e.center + centered;
        arrived = 2 * e.center + centered;
        if (centered) {
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
                e.polynomial.values(block.moved.data(), sums);
                for (std::size_t lane = 0; lane < lanes && from + lane < everyone.size(); ++lane) {
                    const std::int64_t r = everyone[from + lane];
                    // Entries without a column are in no support vector, and 0 in the center.
                    double rest = 0;
                    if (block.columns[r].count() != rows.end(first + r) - rows.begin(first + r))
                        for (std::int64_t i = rows.begin(first + r); i < rows.end(first + r); ++i)
                            if (features_.column(rows.indices[i]) < 0) rest += rows.values[i] * rows.values[i];
                    block.norm[e.center * padded_rows + r] = norms[lane] + rest;
                    block.weight[e.center * padded_rows + r] =
                        bounds_.gaussian ? std::exp(-bounds_.gamma * (norms[lane] + rest)) : 1;
                    arrive(e.center, r, true);
                    add(e, r, sums[lane]);
                }
            }
            continue;
        }
        for (std::int64_t r = 0; new_center && r < n; ++r) arrive(e.center, r, false);
        if (e.beside != no_group) {
            const PolynomialPanel& beside = side_by_side_[e.beside];
            const auto value_at = [&](std::int64_t r) { return out.value.data() + (first + r) * nr_pairs + e.pair; };
            const auto add_all = [&](std::int64_t r, const double* polynomials) {
                const double weight = block.weight[e.center * padded_rows + r];
                if (radii)
                    for (std::size_t i = 0; i < lanes; ++i) add(expansions_[at + i], r, polynomials[i]);
                else if (weight != 0)
                    for (double *value = value_at(r), *end = value + lanes; value < end; ++value, ++polynomials)
                        *value += weight * *polynomials;
            };
            double values[lanes * lanes] = {};  // anything for skipped rows
            for (std::int64_t r : block.sparse) {
                if (block.weight[e.center * padded_rows + r] != 0) beside.values(block.columns[r], values);
                add_all(r, values);
            }
            for (std::size_t from = 0; from < block.dense.size(); from += lanes) {
                const std::size_t count = std::min<std::size_t>(lanes, block.dense.size() - from);
                for (std::size_t lane = 0; lane < count; ++lane)
                    __builtin_prefetch(value_at(block.dense[from + lane]), 1);
                if (anyone(e, block.dense, from))
                    beside.values(static_cast<int>(count), block.groups.data() + from * static_cast<std::size_t>(d),
                                  values);
                for (std::size_t lane = 0; lane < count; ++lane)
                    add_all(block.dense[from + lane], values + lane * lanes);
            }
            at += lanes - 1;
            continue;
        }
        const auto alone = [&](std::int64_t r) {
            const bool counts = block.weight[e.center * padded_rows + r] != 0;
            add(e, r, counts ? e.polynomial.value(block.columns[r], block.scratch) : 0);
        };
        if (e.polynomial.rank()) {
            for (std::int64_t r = 0; r < n; ++r) alone(r);
            continue;
        }
        for (std::int64_t r : block.sparse) alone(r);
        for (std::size_t from = 0; from < block.dense.size(); from += lanes) {
            if (anyone(e, block.dense, from))
                e.polynomial.values(block.groups.data() + from * static_cast<std::size_t>(d), sums);
            for (std::size_t lane = 0; lane < lanes && from + lane < block.dense.size(); ++lane)
                add(e, block.dense[from + lane], sums[lane]);
        }
    }
    for (std::int64_t r = first; r < last; ++r)
        for (std::int64_t p = 0; p < nr_pairs; ++p) out.value[r * nr_pairs + p] -= rho_[p];
    if (radii)
        for (std::int64_t i = first * nr_pairs; i < last * nr_pairs; ++i) {
            // NaN, from overflow, proves nothing.
            double& radius = out.radius[i];
            radius = (radius + 4 * unit * std::fabs(out.value[i])) * up + 1e-200;  // B6, B7
            if (!(radius == radius) || !(out.value[i] == out.value[i])) radius = infinite;
        }
}

void MaclaurinFile::keys(Archive& archive) {
    archive.whole("maclaurin_degree", degree, 0, max_degree);
    archive.precision(single);
    archive.field("fingerprint", fingerprint);
    archive.features(features);
    archive.raw_rows(folded);
    archive.size("nr_centers", centers.size());
    archive.size("nr_expansions", expansions.size());
    if (archive.has("certified", certified())) archive.field("certified", highest_norm);
    if (archive.has("longest_vector", certified())) archive.whole("longest_vector", longest_vector, 0);
    if (archive.reads()) check_keys(archive);
    if (archive.checks() && (degree < 0 || degree > max_degree))
        throw std::invalid_argument("a degree that no expansion has");
}

// Checks the lines of the header against each other.
void MaclaurinFile::check_keys(Archive& archive) const {
    if (bounded() && !(header.gamma >= 0))
        archive.fail_header("gamma " + short_number(header.gamma) + " found, expected 0 or more");
    int kernel_degree = degree;
    if (header.kernel_type == "linear")
        kernel_degree = 1;
    else if (header.kernel_type == "polynomial")
        kernel_degree = header.degree;
    else if (!bounded())
        archive.fail_header("a " + header.kernel_type + " kernel found, which has no expansion");
    if (kernel_degree != degree)
        archive.fail("maclaurin_degree", "maclaurin_degree " + std::to_string(degree) + " found, expected " +
                                             std::to_string(kernel_degree) + ", the kernel's own");
    if (!highest_norm) return;
    int number = highest_norm;
    archive.whole("certified", number, std::max(degree, 1), degree + 16);
    if (!archive.has("longest_vector", true))
        archive.fail_header("the header ends without 'longest_vector', which 'certified' needs");
}

void MaclaurinFile::body(Archive& archive) {
    archive.each("nr_centers", centers, [&](auto& center) { visit(archive, center); });
    std::set<std::int64_t> expanded;
    archive.each("nr_expansions", expansions, [&](auto& expansion) {
        visit(archive, expansion);
        expanded.insert(expansion.pair);
    });
    archive.end();
    if (archive.reads() && static_cast<std::int64_t>(expanded.size()) != header.pairs())
        archive.body().fail("a decision function without an expansion found", archive.at() - 1);
}

void MaclaurinFile::visit(Archive& archive, Center& center) const {
    archive.record("center");
    const std::size_t start = archive.at();
    archive.number(center.largest_norm);
    if (archive.reads() && center.largest_norm < 0)
        archive.body().fail(short_number(center.largest_norm) + " found, expected a squared norm", start);
    if (archive.checks() && center.point.size() != features.size())
        throw std::invalid_argument("a center has one number per feature");
    archive.numbers(center.point, 1, static_cast<std::int64_t>(features.size()));
}

void MaclaurinFile::visit(Archive& archive, Expansion& expansion) const {
    const std::int64_t d = static_cast<std::int64_t>(features.size());
    auto& [pair, center, coefficients, certificate, rank] = expansion;
    const std::size_t start = archive.at();
    archive.record("expansion", {&pair, &center});
    if (archive.reads() && (pair >= header.pairs() || center >= archive.count("nr_centers")))
        archive.body().fail("an expansion of pair " + std::to_string(pair) + " about center " + std::to_string(center) +
                                " found, expected pairs below " + std::to_string(header.pairs()) + ", centers below " +
                                std::to_string(archive.count("nr_centers")),
                            start);
    if (archive.reads() ? certified() : certificate.has_value()) visit(archive, certificate);
    if (degree == 2 && archive.begins_with("rank", rank > 0)) {
        archive.record("rank", {&rank});
        if (archive.reads() && (rank < 1 || rank > d))
            archive.body().fail("rank " + std::to_string(rank) + " found, expected 1 to " + std::to_string(d),
                                archive.at() - 1);
    }
    const bool possible = rank >= 0 && rank <= d && (!rank || degree == 2);
    const std::int64_t size = rank && possible ? (1 + rank) * (1 + d) : packed_size(degree, d + 1);
    if (archive.checks() && (!possible || static_cast<std::int64_t>(coefficients.size()) != size))
        throw std::invalid_argument("wrong number of coefficients");
    archive.numbers(coefficients, archive.writes() ? line_lengths(degree, rank, d) : std::vector{size}, single);
}

void MaclaurinFile::visit(Archive& archive, std::optional<Certificate>& certificate) const {
    if (archive.checks()) return;  // the evaluator refuses other sizes
    std::vector<double> numbers;
    if (certificate) {
        numbers = certificate->truncation;
        numbers.insert(numbers.end(), certificate->error.begin(), certificate->error.end());
        numbers.insert(numbers.end(), {certificate->weight, certificate->count});
    }
    const int norms = bounded() ? highest_norm - degree + 1 : 0;
    archive.record("certificate");
    archive.numbers(numbers, 1, archive.reads() ? norms + degree + 3 : static_cast<std::int64_t>(numbers.size()));
    if (!archive.reads()) return;
    if (*std::min_element(numbers.begin(), numbers.end()) < 0)
        archive.body().fail("a negative number found in a certificate", archive.at() - 1);
    certificate = Certificate{{numbers.begin(), numbers.begin() + norms},
                              {numbers.begin() + norms, numbers.end() - 2},
                              numbers[numbers.size() - 2],
                              numbers.back()};
}

double MaclaurinFile::products() const {
    const std::int64_t d = static_cast<std::int64_t>(features.size());
    const std::int64_t q = longest_vector ? std::min<std::int64_t>(longest_vector, d) : d;
    double out = 0;
    for (const auto& each : expansions)
        out += static_cast<double>(each->rank ? each->rank * q : packed_size(degree, q + 1));
    return out;
}

std::size_t MaclaurinFile::bytes() const {
    std::size_t out = 0;
    for (const auto& each : expansions) out += each->coefficients.size() * sizeof(double);
    return out;
}

std::shared_ptr<Model> MaclaurinFile::make_model() const {
    auto evaluator = std::make_shared<Maclaurin>(features, bounded(), header.gamma, degree, header.rho);
    for (const auto& center : centers) evaluator->add_center(center->point.data(), center->largest_norm);
    for (const auto& each : expansions)
        evaluator->add_expansion(each->pair, each->center, each->coefficients.data(), each->rank, single,
                                 each->certificate ? &*each->certificate : nullptr);
    const Kernel linear{KernelType::polynomial, 1, 0, 1};
    evaluator->set_rounding(header.kernel_type == "linear" ? linear : kernel_of(header), longest_vector);
    auto out = std::make_shared<CompiledModel<Maclaurin>>(header, evaluator);
    out->certified = certified();
    out->judged_by_bound = judged_by_bound();
    return out;
}

}  // namespace fastsvm

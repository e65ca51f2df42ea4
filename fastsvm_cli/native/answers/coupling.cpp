// Compiled without contraction (CMakeLists.txt), to follow LIBSVM's operations one by one. Bounds: B39 of PROOFS.md,
// same names.
#include "answers/predictions.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "simd/loops.h"
#include "text/numbers.h"

namespace fastsvm {

namespace {

constexpr double u = 1.1102230246251565e-16;  // 2^-53
// Nothing is proven above these relative errors of class and pair probabilities, or number of classes.
constexpr double relative_max = 1e-5, pair_max = 1e-6;
constexpr int classes_max = 1000;
// A sigmoid whose argument has at least this size is clamped.
constexpr double clamped_from = 16.2;

// As in LIBSVM: y if x is NaN, unlike std::min and std::max.
double min(double x, double y) { return x < y ? x : y; }
double max(double x, double y) { return x > y ? x : y; }

// Keeps a probability away from 0 and 1, also if the decision value overflowed.
double clamped(double probability) {
    const double least = 1e-7;
    return min(max(probability, least), 1 - least);
}

double pairwise_probability(double decision_value, double a, double b) {
    const double t = decision_value * a + b;
    if (!(t >= 0)) return clamped(1.0 / (1 + libm_exp(t)));
    const double power = libm_exp(-t);
    return clamped(power / (1.0 + power));
}

bool same_text(double low, double high) {
    char first[number_text_max], second[number_text_max];
    const auto n = write_g(first, low, 6) - first;
    return n == write_g(second, high, 6) - second && std::memcmp(first, second, static_cast<std::size_t>(n)) == 0;
}

// Whether both ends of the interval print alike. Probabilities are monotonic between them.
bool pair_decided(double a, double b, double value, double radius) {
    if (!std::isfinite(value) || !std::isfinite(radius)) return false;
    // The sigmoid's rounding, as a change of f.
    radius += a != 0 ? (1e-14 + 1e-15 * std::fabs(b)) / std::fabs(a) : 0;
    const double low = pairwise_probability(value - radius, a, b), high = pairwise_probability(value + radius, a, b);
    return same_text(low, high) && same_text(1 - low, 1 - high) && (1 - low > low) == (1 - high > high);
}

// Whether all numbers within p * share of p print alike.
bool prints_alike(double p, double share) {
    if (p > 1e-12 && p < 1 && share < 1e-7) {  // most p are far from a tie of six digits
        const double* power = power_of_ten + 6;
        while (p * *power < 1e5) ++power;
        const double scaled = p * *power, over = scaled - static_cast<double>(static_cast<int>(scaled));
        if (std::fabs(over - 0.5) > scaled * (1.01 * share + 4 * u)) return true;
    }
    return same_text(p * (1 - share), p * (1 + share));
}

// A pair's probability p, and how far svm-predict's p and 1 - p can be from it.
struct PairRange {
    double first, first_wrong, second_wrong;
};

// Returns false if nothing is proven.
bool pair_range(double value, double radius, double a, double b, PairRange& out) {
    const double t = value * a + b, size = std::fabs(t);
    const double moved =
        radius > 0 && a != 0 ? 1.0001 * std::fabs(a) * radius + 2.1 * u * (std::fabs(value * a) + size) + 1e-300 : 0;
    // These forms also refuse NaN. Without a radius, svm-predict's value may be infinite.
    if (!(moved < 1e-3) || !(size < 1e300) || !std::isfinite(radius)) return false;
    const double power = libm_exp(-size);
    const double own = t >= 0 ? power / (1.0 + power) : 1.0 / (1 + power);
    out = {clamped(own), 0, 0};
    if (moved == 0 || size - moved > clamped_from) return true;
    if (size <= moved) return false;  // svm-predict may use the other formula
    const double share = 1.001 * moved + 7 * u;
    if (t >= 0) {
        out.first_wrong = own * (1.001 * share / (1 + power) + 4.1 * u);
        out.second_wrong = out.first_wrong + 2.1 * u;
    } else {  // every operation is monotonic
        const double low = clamped(1.0 / (1 + power * (1 + share))), high = clamped(1.0 / (1 + power * (1 - share)));
        out.first_wrong = std::max(high - out.first, out.first - low);
        out.second_wrong = std::max((1 - low) - (1 - out.first), (1 - out.first) - (1 - high));
    }
    return true;
}

// Numbers per loop step. Rows are padded with zeros to a multiple.
constexpr std::size_t together = 4;

// Sum of term(j) for j < n, in any order; n is a multiple of `together`.
template <class Term> double sum(std::size_t n, Term term) {
    double sums[together] = {};
    for (std::size_t j = 0; j < n; j += together)
        for (std::size_t e = 0; e < together; ++e) sums[e] += term(j + e);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

struct NoWatch {
    bool test(double, double, double) { return true; }
    bool step(std::size_t, double, double) { return true; }
    void stepped(std::size_t, double, double) {}
};

}  // namespace

// Error bounds of the iteration against svm-predict's, which starts from other pair probabilities.
struct Coupling::Errors {
    // most_of_pairs: largest relative error of a pair's probability.
    Errors(Coupling& of, double most_of_pairs) : of(of), most_of_pairs(most_of_pairs) {}

    // Bound on sum_j q_tj p_j against svm-predict's, p scaled to its length.
    double product_wrong(std::size_t t) const {
        const double *const row = q + t * width, *const wrong = q_wrong + t * width;
        return sum(width, [&](std::size_t j) { return (std::fabs(row[j]) * relative[j] + wrong[j]) * p[j]; });
    }

    // Updates the sums that depend on p, g and l.
    void add_up(double l) {
        size = 2 * sum(width, [&](std::size_t j) { return diagonal[j] * p[j] * p[j]; }) - l;
        linear =
            sum(width, [&](std::size_t j) { return (std::fabs(2 * g[j] - l) + 2 * noise[j]) * p[j] * relative[j]; });
        chords = sum(width, [&](std::size_t j) { return squares[j] * p[j] * p[j]; });
    }

    // Bound on the quadratic form against svm-predict's, p scaled to its length.
    double form_wrong(double l) const {
        const double rounding = u * static_cast<double>(k) * size;
        return 1.01 * (2 * std::sqrt((std::fabs(l) + l_noise + rounding) * chords) + chords + 2.01 * rounding + linear +
                       most * (l_noise + stretch * std::fabs(l) + size * (4.5 * most_of_pairs + 1.1 * most)));
    }

    bool test(double l, double max_error, double eps) {
        const double n = static_cast<double>(k);
        most = *std::max_element(relative, relative + k);
        for (std::size_t t = 0; t < width; ++t) noise[t] = 1.01 * u * (n + 1) * (2 * diagonal[t] * p[t] - g[t]);
        add_up(l);
        l_noise = sum(width, [&](std::size_t t) { return p[t] * (noise[t] + 1.01 * u * n * std::fabs(g[t])); }) +
                  1.01e-3 * u * n * size;
        const double scale = this->scale();
        const double both = form_wrong(l) + 2.02 * l_noise + (scale + 4 * stretch) * std::fabs(l);
        const auto wrong = [&](std::size_t t) {
            return 1.02 * (both + 2.02 * noise[t] + scale * (std::fabs(g[t]) + std::fabs(l)) + product_wrong(t)) +
                   3 * u * (std::fabs(g[t]) + std::fabs(l));
        };
        if (!(stretch < relative_max)) return false;
        if (max_error < eps) {
            for (std::size_t t = 0; t < k; ++t)
                if (!(std::fabs(g[t] - l) + wrong(t) < eps)) return false;
            return true;
        }
        for (std::size_t t = 0; t < k; ++t)
            if (std::fabs(g[t] - l) == max_error) return max_error - wrong(t) > eps;
        return false;
    }

    // Call before p_t changes by `diff`.
    bool step(std::size_t t, double diff, double l) {
        next = p[t] + diff;
        if (!(next > 0) || !(stretch < relative_max)) return false;
        const double own = diagonal[t];
        move = std::fabs(diff) + 1e-4 * (next + p[t]);
        const double row = 2 * own * p[t] - g[t];  // sum |q_tj| p_j
        const double rounding =
            l_noise + noise[t] + 1.01 * stretch * (std::fabs(l) + l_noise) + u * own * (2.01 * move + 1.01 * next);
        const double without = product_wrong(t) - (own * relative[t] + q_wrong[t * width + t]) * p[t];
        const double found = 1.02 * ((form_wrong(l) + 1.01 * std::max(without, 0.0) + 2.02 * rounding) / (own * next) +
                                     q_wrong[t * width + t] / own);
        if (!(found < relative_max)) return false;
        moved_noise = l_noise + 2 * move * noise[t] +
                      1.01 * u *
                          (3 * move * move * own + 4.1 * move * row +
                           2.01 * next * (std::fabs(g[t] + diff * own) + 1e-3 * (row + move * own)));
        relative[t] = found;
        most = std::max(most, found);
        return true;
    }

    // Call afterwards, with p and g divided by `divisor`.
    void stepped(std::size_t t, double divisor, double l) {
        const double own = p[t] + move / divisor, inverse = 1 / divisor;
        const double* const row = q + t * width;
        for (std::size_t j = 0; j < width; ++j) {
            noise[j] =
                noise[j] * inverse +
                1.01 * u * (2 * std::fabs(g[j]) + 1.01 * (2 * diagonal[j] * p[j] - g[j]) + std::fabs(row[j]) * own);
            relative[j] += 2.01 * u;
        }
        const double sizes = sum(width, [&](std::size_t j) { return std::fabs(g[j]) * p[j]; });
        most += 2.01 * u;
        add_up(l);
        l_noise = moved_noise / divisor / divisor + 1.01 * u * (3 * std::fabs(l) + 2 * sizes + 1e-3 * size);
        stretch = stretch / divisor + 3.2 * u;
    }

    // Final bound on |c - 1|, where c is the probabilities' common factor.
    double scale() const {
        return 1.01 * (sum(width, [&](std::size_t j) { return p[j] * relative[j]; }) + 2 * stretch);
    }

    Coupling& of;
    const double most_of_pairs;
    const std::size_t k = of.classes_, width = of.width_;
    const double *const squares = of.squares_.data(), *const q = of.q_.data(), *const q_wrong = of.q_wrong_.data(),
                        *const diagonal = of.q_diagonal_.data(), *const p = of.p_.data(), *const g = of.qp_.data();
    double *const relative = of.relative_.data(), *const noise = of.noise_.data();
    double l_noise = 0, moved_noise = 0, stretch = u, most = 0;
    double size = 0, linear = 0, chords = 0;
    double next = 0, move = 0;
};

void Coupling::take(const Odds& odds) {
    odds_ = &odds;
    if (classes_ == static_cast<std::size_t>(odds.classes)) return;
    classes_ = static_cast<std::size_t>(odds.classes);
    width_ = (classes_ + together - 1) / together * together;
    r_.assign(classes_ * width_, 0.0);
    q_.assign(r_.size(), 0.0);
    p_.assign(width_, 0.0);
    qp_.assign(width_, 0.0);
}

void Coupling::make_q() {
    const int k = static_cast<int>(classes_);
    for (int t = 0; t < k; ++t) {
        q_[at(t, t)] = 0;
        for (int j = 0; j < t; ++j) {
            q_[at(t, t)] += r_[at(j, t)] * r_[at(j, t)];
            q_[at(t, j)] = q_[at(j, t)];
        }
        for (int j = t + 1; j < k; ++j) {
            q_[at(t, t)] += r_[at(j, t)] * r_[at(j, t)];
            q_[at(t, j)] = -r_[at(j, t)] * r_[at(t, j)];
        }
    }
}

template <class Watch> bool Coupling::couple(Watch& watch) {
    const int k = static_cast<int>(classes_);
    const int max_iter = std::max(100, k);
    const double eps = 0.005 / k;
    const int width = static_cast<int>(width_);
    double *const p = p_.data(), *const qp = qp_.data();
    for (int t = 0; t < width; ++t) p[t] = t < k ? 1.0 / k : 0;
    for (int iter = 0; iter < max_iter; ++iter) {
        double pqp = 0;
        std::fill_n(qp, width, 0.0);
        for (int j = 0; j < k; ++j) {  // vectorized: the matrix is symmetric
            const double* const column = q_.data() + at(j, 0);
            for (int t = 0; t < width; ++t) qp[t] += column[t] * p[j];
        }
        for (int t = 0; t < k; ++t) pqp += p[t] * qp[t];
        double max_error = 0;
        for (int t = 0; t < k; ++t) max_error = max(std::fabs(qp[t] - pqp), max_error);
        if (!watch.test(pqp, max_error, eps)) return false;
        if (max_error < eps) break;
        for (int t = 0; t < k; ++t) {
            const double own = q_[at(t, t)];
            const double diff = (-qp[t] + pqp) / own;
            if (!watch.step(static_cast<std::size_t>(t), diff, pqp)) return false;
            p[t] += diff;
            pqp = (pqp + diff * (diff * own + 2 * qp[t])) / (1 + diff) / (1 + diff);
            const double* const row = q_.data() + at(t, 0);
            for (int j = 0; j < width; ++j) {
                qp[j] = (qp[j] + diff * row[j]) / (1 + diff);
                p[j] /= (1 + diff);
            }
            watch.stepped(static_cast<std::size_t>(t), 1 + diff, pqp);
        }
    }
    return true;
}

void Coupling::probabilities(const double* value, double* p) {
    const int k = static_cast<int>(classes_);
    std::size_t pair = 0;
    for (int i = 0; i < k; ++i)
        for (int j = i + 1; j < k; ++j, ++pair) {
            r_[at(i, j)] = pairwise_probability(value[pair], odds_->a[pair], odds_->b[pair]);
            r_[at(j, i)] = 1 - r_[at(i, j)];
        }
    if (k == 2) {
        p[0] = r_[1];
        p[1] = r_[at(1, 0)];
        return;
    }
    couple_unwatched(p);
}

void Coupling::iterate_pair(double* p) {
    r_[at(0, 1)] = p[0];
    r_[at(1, 0)] = p[1];
    couple_unwatched(p);
}

void Coupling::couple_unwatched(double* p) {
    make_q();
    NoWatch none;
    couple(none);
    std::copy_n(p_.data(), classes_, p);
}

bool Coupling::decided(const double* value, const double* radius) {
    if (classes_ == 2) return pair_decided(odds_->a[0], odds_->b[0], value[0], radius[0]);
    const int k = static_cast<int>(classes_);
    if (k > classes_max) return false;
    wrong_.assign(r_.size(), 0.0);
    q_wrong_.resize(r_.size());
    q_diagonal_.resize(width_);
    squares_.assign(width_, 0.0);
    noise_.resize(width_);
    relative_.assign(width_, 0.0);
    std::size_t pair = 0;
    double most = 0;
    for (int i = 0; i < k; ++i)
        for (int j = i + 1; j < k; ++j, ++pair) {
            PairRange range;
            if (!pair_range(value[pair], radius[pair], odds_->a[pair], odds_->b[pair], range)) return false;
            const double second = 1 - range.first;
            r_[at(i, j)] = range.first;
            r_[at(j, i)] = second;
            wrong_[at(i, j)] = range.first_wrong;
            wrong_[at(j, i)] = range.second_wrong;
            squares_[static_cast<std::size_t>(j)] += 2.01 * range.first_wrong * range.first_wrong;
            squares_[static_cast<std::size_t>(i)] += 2.01 * range.second_wrong * range.second_wrong;
            most = std::max({most, range.first_wrong / range.first, range.second_wrong / second});
            if (!(most < pair_max)) return false;
        }
    make_q();
    for (int t = 0; t < k; ++t) {
        double own = 0;
        for (int j = 0; j < k; ++j) {
            const double first = wrong_[at(t, j)], second = wrong_[at(j, t)];
            if (j == t) continue;
            own += 2.001 * r_[at(j, t)] * second;
            q_wrong_[at(t, j)] =
                1.001 * (r_[at(j, t)] * first + second * r_[at(t, j)]) + 2.01 * u * std::fabs(q_[at(t, j)]);
        }
        q_diagonal_[static_cast<std::size_t>(t)] = q_[at(t, t)];
        q_wrong_[at(t, t)] = own + 2.01 * k * u * q_[at(t, t)];
    }
    Errors errors(*this, most);
    if (!couple(errors)) return false;
    const double scale = errors.scale();
    int best = 0;
    for (int i = 1; i < k; ++i)
        if (p_[static_cast<std::size_t>(i)] > p_[static_cast<std::size_t>(best)]) best = i;
    const auto wrong = [&](int i) { return 1.02 * (scale + relative_[static_cast<std::size_t>(i)]) + 3 * u; };
    const double least = p_[static_cast<std::size_t>(best)] * (1 - wrong(best));
    for (int i = 0; i < k; ++i) {
        const double own = p_[static_cast<std::size_t>(i)], share = wrong(i);
        if (i != best && !(own * (1 + share) < least)) return false;
        if (!prints_alike(own, share)) return false;
    }
    return true;
}

}  // namespace fastsvm

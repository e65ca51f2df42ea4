#include "exact/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exact/strips.h"

namespace fastsvm {

double length(double squares, std::int64_t n) {
    return std::sqrt(squares) * (1 + unit * static_cast<double>(n + 4)) + std::sqrt(static_cast<double>(n)) * 2e-154;
}

Rounding::Rounding(const SvmModel& model, bool distances_by_differences, bool folded)
    : kernel_(model.kernel),
      by_differences_(distances_by_differences),
      folded_(folded),
      features_(static_cast<double>(kernel_.type == KernelType::exponential ? used_indices(*model.vectors).size() : 0)),
      rho_(model.rho) {
    const Rows& sv = *model.vectors;
    cover(sv);
    const std::int64_t classes = model.classes(), pairs = model.pairs();
    pair_weight_.assign(pairs, 0);
    pair_count_.assign(pairs, 0);
    std::int64_t i = 0;
    for (std::int64_t c = 0; c < classes; ++c)
        for (std::int64_t k = 0; k < model.nr_sv[c]; ++k, ++i) {
            const double size =
                kernel_.type == KernelType::linear ? length(sv.squared_norms[i], sv.end(i) - sv.begin(i)) : 1.0;
            for_each_pair(model, c, [&](std::int64_t pair, std::int64_t column) {
                pair_weight_[pair] += std::fabs(sv.leading[i * sv.leading_count + column]) * size;
                ++pair_count_[pair];
            });
        }
    // A sum of n positive terms errs by n u of itself at most; 1e-300 u is more than folded products lose by underflow.
    for (std::int64_t p = 0; p < pairs; ++p)
        pair_weight_[p] = pair_weight_[p] * (1 + 2 * unit * static_cast<double>(pair_count_[p] + 4)) +
                          1e-300 * static_cast<double>(pair_count_[p]);
    for (std::int64_t p = 0; p < pairs; ++p) {
        largest_weight_ = std::max(largest_weight_, pair_weight_[p]);
        largest_pair_count_ = std::max(largest_pair_count_, pair_count_[p]);
        largest_rho_ = std::max(largest_rho_, std::fabs(rho_[p]));
    }
}

void Rounding::cover(const Rows& vectors) {
    for (std::int64_t i = 0; i < vectors.rows; ++i) {
        const std::int64_t count = vectors.end(i) - vectors.begin(i);
        largest_norm_ = std::max(largest_norm_, length(vectors.squared_norms[i], count));
        largest_count_ = std::max(largest_count_, static_cast<double>(count));
    }
}

// Between a value of ours and svm-predict's, for one row: radius = weight (kernel + 2.1 u n) scale,
// with weight = sum |coef| (times |x| for linear kernels) and n the support vectors of the pair. u = 2^-53; q entries
// in the row, s in the largest support vector, X = the largest |x|. First-order terms, with the second-order ones
// covered by rounding the constants up.
//
// RBF (scale 1, since K <= 1). Our distance |x|^2 + |z|^2 - 2 x.z errs by (max(q, s) + 4) u (X + |z|)^2 at most, which
// moves K by at most K (e^delta - 1), delta = gamma times that. LIBSVM's, a sum of squares, errs by (q + s + 3) u of
// itself, which moves K by at most (q + s + 3) u max t e^-t = 0.37 (q + s + 3) u; each exponent's own product adds 0.37
// u; exp: 6 u ours, 2 u libm's. Sums of products, in any order: (n + 2) u sum |coef| K for each program, and the
// subtraction of rho, u |value| each. Polynomial: |base| <= B = |gamma| X |z| + |coef0|, relative to B its error is
// (min(q, s) + 4) u in each program; the power multiplies that by degree and adds 2 u per squaring and product: scale
// B^degree. Sigmoid: tanh has slope <= 1: B times the same, 6 u for tanh, scale 1. Linear: both programs sum products
// |coef| |x_j| |z_j|, weight |z| in all: (min(q, s) + n + 4) u each, but q for min(q, s) where ours are folded.
// Exponential: like RBF, with t = gamma |x - z|, whose relative error is half that of |x - z|^2: (q + s + 3) u theirs,
// (d + q + 4) u ours by differences; otherwise ours is the root of an error of (max(q, s) + 4) u (X + |z|)^2, which is
// not small where the distance is. Normalized polynomial (gamma, coef0 >= 0): k(x, z) <= B^degree <= sqrt(k(x, x) k(z,
// z)) by Cauchy-Schwarz, so relative to 1: degree (max(q, s) + 8) u for k(x, z) and as much for the two halves of k(x,
// x) and k(z, z), 8 u for root, product and quotient.
Rounding::Row Rounding::row(const Rows& rows, std::int64_t row, bool precise) const {
    const double q = static_cast<double>(rows.end(row) - rows.begin(row)), s = largest_count_;
    const double z = length(rows.squared_norms[row], rows.end(row) - rows.begin(row)), x = largest_norm_;
    const double base = std::fabs(kernel_.gamma) * x * z + std::fabs(kernel_.coef0);
    const double infinite = std::numeric_limits<double>::infinity();
    if (!(x < 1e150 && z < 1e150)) return {infinite, 1};  // a square may overflow, here or in svm-predict
    const double lost = 1e-160 * std::sqrt(q + s + 1);    // of a distance, by squares that underflow
    switch (kernel_.type) {
        case KernelType::rbf: {
            const double delta = kernel_.gamma * (std::max(q, s) + 6) * unit * (x + z) * (x + z);
            // Beyond: precise values are held to 1e-10 of sum |coef| by the reference sum, and a negative gamma leaves
            // K unbounded.
            if (!(kernel_.gamma >= 0) || !(delta < (precise ? 1e-10 : 1e-2))) return {infinite, 1};
            return {1.02 * delta + (0.4 * (q + s + 5) + 14) * unit + std::sqrt(kernel_.gamma) * lost, 1};
        }
        case KernelType::polynomial: {
            const double degree = std::max(kernel_.degree, 0), operations = degree * (std::min(q, s) + 8) + 8;
            if (!(unit * operations < 1e-2)) return {infinite, 1};  // no longer of first order
            return {2.1 * unit * operations, std::pow(base, degree) * (1 + 1e-10) + 1e-290};
        }
        case KernelType::sigmoid: return {2.1 * unit * ((std::min(q, s) + 6) * base + 8), 1};
        case KernelType::linear:
            // Folded, our sum has a term for every entry of the row.
            return {1.05 * unit * (std::min(q, s) + (folded_ ? q : std::min(q, s)) + 16), z};
        case KernelType::precomputed: return {infinite, 1};
        case KernelType::exponential: {
            const double common = (0.4 * (q + s + 5) + 14) * unit + kernel_.gamma * lost;
            if (!(kernel_.gamma >= 0) || !(common < 1e-2)) return {infinite, 1};
            if (by_differences_) return {common + 0.4 * (features_ + q + 6) * unit, 1};
            const double delta = kernel_.gamma * std::sqrt((std::max(q, s) + 6) * unit) * (x + z);
            return {delta < (precise ? 1e-10 : 1e-2) ? 1.02 * delta + common : infinite, 1};
        }
        case KernelType::normalized_polynomial: {
            if (!(kernel_.gamma >= 0) || !(kernel_.coef0 > 0)) return {infinite, 1};
            // Neither what underflows in |z|^2 may matter, nor k(x, x) k(z, z) leave the range of a double.
            if (!(kernel_.gamma * 1e-300 * (q + s + 1) < kernel_.coef0)) return {infinite, 1};
            const double longest = std::max(x, z), degree = std::max(kernel_.degree, 0);
            if (!(std::pow(kernel_.gamma * longest * longest + kernel_.coef0, degree) < 1e150) ||
                !(std::pow(kernel_.coef0, degree) > 1e-150))
                return {infinite, 1};
            return {2.1 * unit * (2 * std::max(kernel_.degree, 0) * (std::max(q, s) + 8) + 12), 1};
        }
    }
    return {infinite, 1};
}

double Rounding::squared_distance_error(const Rows& rows, std::int64_t row) const {
    const double q = static_cast<double>(rows.end(row) - rows.begin(row));
    const double size = largest_norm_ + length(rows.squared_norms[row], rows.end(row) - rows.begin(row));
    return (std::max(q, largest_count_) +
            (kernel_.type == KernelType::exponential && by_differences_ ? features_ + q : 0) + 8) *
           unit * size * size;
}

}  // namespace fastsvm

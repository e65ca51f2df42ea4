#include "exact/reference/rounding.h"

#include <algorithm>
#include <cmath>

#include "exact/values/panels.h"

namespace fastsvm {

namespace {
// Relative to the largest kernel value; above it, precise values come from the reference sum.
constexpr double precise_max = 1e-10;
}  // namespace

double length(double squares, double n) { return std::sqrt(squares) * (1 + unit * (n + 4)) + std::sqrt(n) * 2e-154; }

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
            const double size = kernel_.type == KernelType::linear
                                    ? length(sv.squared_norms[i], static_cast<double>(sv.end(i) - sv.begin(i)))
                                    : 1.0;
            for_each_pair(model, c, [&](std::int64_t pair, std::int64_t column) {
                pair_weight_[pair] += std::fabs(sv.leading[i * sv.leading_count + column]) * size;
                ++pair_count_[pair];
            });
        }
    // A sum of n positive terms errs by at most n u of itself; 1e-300 u is more than folded products lose by underflow.
    for (std::int64_t p = 0; p < pairs; ++p) {
        pair_weight_[p] = pair_weight_[p] * (1 + 2 * unit * static_cast<double>(pair_count_[p] + 4)) +
                          1e-300 * static_cast<double>(pair_count_[p]);
        largest_weight_ = std::max(largest_weight_, pair_weight_[p]);
        largest_pair_count_ = std::max(largest_pair_count_, pair_count_[p]);
        largest_rho_ = std::max(largest_rho_, std::fabs(rho_[p]));
    }
}

void Rounding::cover(const Rows& vectors) {
    for (std::int64_t i = 0; i < vectors.rows; ++i) {
        const double count = static_cast<double>(vectors.end(i) - vectors.begin(i));
        largest_norm_ = std::max(largest_norm_, length(vectors.squared_norms[i], count));
        largest_count_ = std::max(largest_count_, count);
    }
}

KernelRounding svm_predict_kernel_rounding(const Kernel& kernel, double q, double s, double z, double x) {
    const double degree = std::max(kernel.degree, 0), base = std::fabs(kernel.gamma) * x * z + std::fabs(kernel.coef0);
    const double lost = 1e-160 * std::sqrt(q + s + 1);  // error of a distance from squares that underflow
    switch (kernel.type) {
        case KernelType::rbf:
            if (!(kernel.gamma >= 0)) return {infinite, 1};  // K is unbounded
            return {(0.4 * (q + s + 5) + 4) * unit + std::sqrt(kernel.gamma) * lost, 1};
        case KernelType::exponential:
            if (!(kernel.gamma >= 0)) return {infinite, 1};
            return {(0.4 * (q + s + 5) + 4) * unit + kernel.gamma * lost, 1};
        case KernelType::polynomial:
            return {(1.01 * degree * (std::min(q, s) + 8) + 6.1) * unit, std::pow(base, degree) * (1 + 1e-10) + 1e-290};
        case KernelType::sigmoid: return {1.05 * unit * ((std::min(q, s) + 6) * base + 8), 1};
        case KernelType::linear: return {1.05 * unit * (std::min(q, s) + 8), z};
        case KernelType::normalized_polynomial: return {1.05 * unit * (2 * degree * (std::max(q, s) + 8) + 12), 1};
        case KernelType::precomputed: break;
    }
    return {infinite, 1};
}

void widen(const Rows& rows, const Origin& origin, Decisions& out) {
    Kernel kernel;
    kernel.gamma = origin.gamma;
    const std::size_t pairs = static_cast<std::size_t>(out.pairs);
    for (std::int64_t r = 0; r < out.rows; ++r) {
        const double q = static_cast<double>(rows.end(r) - rows.begin(r));
        const KernelRounding of_kernel = svm_predict_kernel_rounding(kernel, q, origin.longest_vector, 0, 0);
        for (std::size_t p = 0; p < pairs; ++p) {
            double& radius = out.radius[static_cast<std::size_t>(r) * pairs + p];
            const double rho = std::fabs(origin.rho[p]) + origin.radius[p];
            radius = (radius + origin.radius[p] + svm_predict_rounding(of_kernel, origin.weight[p], origin.count, rho) +
                      1e-200) *
                     (1 + 1e-12);
        }
    }
}

KernelRounding Rounding::svm_predict(const Rows& rows, std::int64_t row) const {
    const double q = static_cast<double>(rows.end(row) - rows.begin(row));
    const double z = length(rows.squared_norms[row], q);
    if (!(largest_norm_ < 1e150 && z < 1e150)) return {infinite, 1};
    return svm_predict_kernel_rounding(kernel_, q, largest_count_, z, largest_norm_);
}

// Our part of the bound between our value and svm-predict's; q and s as in B5, X = the largest |x|. First-order terms;
// rounded-up constants cover second-order ones.
//
// RBF: our distance |x|^2 + |z|^2 - 2 x.z errs by at most (max(q, s) + 4) u (X + |z|)^2, which moves K by at most K
// (e^delta - 1), delta = gamma times that; the exponent's own product adds 0.37 u, our exp 6 u. Polynomial, sigmoid (6
// u for our tanh), normalized polynomial: as svm-predict's. Linear: (min(q, s) + 4) u; for folded vectors (q + 4) u,
// since our sum has a term per entry of the row. Exponential: by differences, t = gamma |x - z| has half the relative
// error of |x - z|^2, (d + q + 4) u; otherwise it is the root of an error of (max(q, s) + 4) u (X + |z|)^2, which is
// not small for small distances.
Rounding::Row Rounding::row(const Rows& rows, std::int64_t row, bool precise) const {
    const double q = static_cast<double>(rows.end(row) - rows.begin(row)), s = largest_count_;
    const double z = length(rows.squared_norms[row], q), x = largest_norm_;
    const Row unknown{{infinite, 1}, 0};
    if (!(x < 1e150 && z < 1e150)) return unknown;  // a square may overflow, here or in svm-predict
    const KernelRounding theirs = svm_predict_kernel_rounding(kernel_, q, s, z, x);
    const double gamma = kernel_.gamma, degree = std::max(kernel_.degree, 0);
    switch (kernel_.type) {
        case KernelType::rbf: {
            const double delta = gamma * (std::max(q, s) + 6) * unit * (x + z) * (x + z);
            if (!(delta < (precise ? precise_max : 1e-2))) return unknown;
            return {theirs, 1.02 * delta + 10 * unit};
        }
        case KernelType::polynomial: {
            const double operations = degree * (std::min(q, s) + 8);
            // Above 1e-2, no longer first order.
            if (!(unit * (operations + 8) < (precise ? precise_max : 1e-2))) return unknown;
            return {theirs, (1.09 * operations + 10.7) * unit};
        }
        case KernelType::sigmoid:
            if (precise && !(theirs.kernel < precise_max)) return unknown;
            return {theirs, theirs.kernel};
        case KernelType::linear: return {theirs, 1.05 * unit * ((folded_ ? q : std::min(q, s)) + 8)};
        case KernelType::precomputed: return unknown;
        case KernelType::exponential: {
            if (!(theirs.kernel + 10 * unit < 1e-2)) return unknown;
            if (by_differences_) return {theirs, (0.4 * (features_ + q + 6) + 10) * unit};
            const double delta = gamma * std::sqrt((std::max(q, s) + 6) * unit) * (x + z);
            return delta < (precise ? precise_max : 1e-2) ? Row{theirs, 1.02 * delta + 10 * unit} : unknown;
        }
        case KernelType::normalized_polynomial: {
            if (!(gamma >= 0) || !(kernel_.coef0 > 0)) return unknown;
            // |z|^2 must not underflow, and k(x, x) k(z, z) must stay in the range of a double.
            if (!(gamma * 1e-300 * (q + s + 1) < kernel_.coef0)) return unknown;
            const double longest = std::max(x, z);
            if (!(std::pow(gamma * longest * longest + kernel_.coef0, degree) < 1e150) ||
                !(std::pow(kernel_.coef0, degree) > 1e-150))
                return unknown;
            return {theirs, theirs.kernel};
        }
    }
    return unknown;
}

// B37.
double Rounding::radius_by_size(std::int64_t pair, const Row& row, double value, const RowSize& size) const {
    const double all = pair_weight_[pair], n = static_cast<double>(pair_count_[pair]);
    if (kernel_.type != KernelType::rbf || !(row.kernel() < 1e-2) || !(kernel_.gamma < 1e100) || !(all < 1e90) ||
        !(n < 1e9))
        return infinite;
    const double weight = std::min(1.02 * size.terms + 1e-190, all), share = weight / all;
    const double exponents = all > 0 ? all * (share < 0.36 ? -share * std::log(share) : 0.36788) * (1 + 1e-9) : 0.0;
    const double kernels =
        2.71 * row.svm_predict.kernel * exponents + weight * (row.ours + 4.1 * unit) + 1.01 * unit * exponents;
    const double partials = size.partials + n * (kernels + weight * 2.2 * (n + 20) * unit);
    const double sums = 1.01 * unit * (partials + weight * (0.1 * n + 34));
    return (kernels + sums + unit * (3 * std::fabs(value) + 3 * std::fabs(rho_[pair]))) * (1 + 1e-9) + 1e-200 +
           all * 1e-100;
}

double Rounding::squared_distance_error(const Rows& rows, std::int64_t row) const {
    const double q = static_cast<double>(rows.end(row) - rows.begin(row));
    const double size = largest_norm_ + length(rows.squared_norms[row], q);
    return (std::max(q, largest_count_) +
            (kernel_.type == KernelType::exponential && by_differences_ ? features_ + q : 0) + 8) *
           unit * size * size;
}

}  // namespace fastsvm

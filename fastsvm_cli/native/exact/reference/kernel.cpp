// Compiled without contraction (CMakeLists.txt). Every operation keeps LIBSVM's order (svm.cpp, Kernel::k_function).
#include "exact/reference/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "simd/library_exp.h"
#include "simd/loops.h"

namespace fastsvm {

namespace {

struct Sparse {
    const std::int32_t* index;
    const double* value;
    const std::int32_t* end;
};

inline Sparse row_of(const Rows& rows, std::int64_t row) {
    return {rows.indices.data() + rows.begin(row), rows.values.data() + rows.begin(row),
            rows.indices.data() + rows.end(row)};
}

// Visits the common prefix of equal indices, which is all for dense rows, and moves x and y past it.
template <class Visit> inline void walk_together(Sparse& x, Sparse& y, Visit visit) {
    const std::ptrdiff_t n = std::min(x.end - x.index, y.end - y.index);
    std::ptrdiff_t k = 0;
    for (; k < n && x.index[k] == y.index[k]; ++k) visit(x.value[k], y.value[k]);
    x = {x.index + k, x.value + k, x.end};
    y = {y.index + k, y.value + k, y.end};
}

inline double dot(Sparse x, Sparse y) {
    double sum = 0;
    walk_together(x, y, [&](double a, double b) { sum += a * b; });
    while (x.index != x.end && y.index != y.end) {
        if (*x.index == *y.index) {
            sum += *x.value++ * *y.value++;
            ++x.index;
            ++y.index;
        } else if (*x.index > *y.index) {
            ++y.index;
            ++y.value;
        } else {
            ++x.index;
            ++x.value;
        }
    }
    return sum;
}

inline double squared_distance(Sparse x, Sparse y) {
    double sum = 0;
    walk_together(x, y, [&](double a, double b) { sum += (a - b) * (a - b); });
    while (x.index != x.end && y.index != y.end) {
        if (*x.index == *y.index) {
            const double d = *x.value++ - *y.value++;
            sum += d * d;
            ++x.index;
            ++y.index;
        } else if (*x.index > *y.index) {
            sum += *y.value * *y.value;
            ++y.index;
            ++y.value;
        } else {
            sum += *x.value * *x.value;
            ++x.index;
            ++x.value;
        }
    }
    for (; x.index != x.end; ++x.index, ++x.value) sum += *x.value * *x.value;
    for (; y.index != y.end; ++y.index, ++y.value) sum += *y.value * *y.value;
    return sum;
}

double powi(double base, int times) {
    double tmp = base, ret = 1.0;
    for (int t = times; t > 0; t /= 2) {
        if (t % 2 == 1) ret *= tmp;
        tmp = tmp * tmp;
    }
    return ret;
}

// x: squared distance or inner product.
double reference_value(const Kernel& k, double x) {
    switch (k.type) {
        case KernelType::linear: return x;
        case KernelType::polynomial: return powi(k.gamma * x + k.coef0, k.degree);
        case KernelType::rbf: return libm_exp(-k.gamma * x);
        case KernelType::sigmoid: return std::tanh(k.gamma * x + k.coef0);
        case KernelType::exponential: return libm_exp(-k.gamma * std::sqrt(x));
        case KernelType::precomputed:
        case KernelType::normalized_polynomial: break;  // one number is not enough
    }
    return 0;
}

double reference_value(const Kernel& k, Sparse x, Sparse y) {
    if (k.type == KernelType::precomputed) return x.value[static_cast<int>(*y.value)];
    if (k.type == KernelType::normalized_polynomial) {
        const auto before = [&k](Sparse a, Sparse b) { return powi(k.gamma * dot(a, b) + k.coef0, k.degree); };
        return before(x, y) / std::sqrt(before(x, x) * before(y, y));
    }
    return reference_value(k, k.of_distances() ? squared_distance(x, y) : dot(x, y));
}

}  // namespace

double Kernel::self(double squared_norm) const {
    switch (type) {
        case KernelType::linear: return squared_norm;
        case KernelType::polynomial: return std::pow(gamma * squared_norm + coef0, degree);
        default: return 1;
    }
}

double Kernel::before_normalization(double squared_norm) const { return powi(gamma * squared_norm + coef0, degree); }

double reference_kernel(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z, std::int64_t j) {
    return reference_value(kernel, row_of(x, i), row_of(z, j));
}

std::vector<double> reference_kernel_row(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z) {
    std::vector<double> values(static_cast<std::size_t>(z.rows));
    for (std::int64_t j = 0; j < z.rows; ++j) values[j] = reference_kernel(kernel, x, i, z, j);
    return values;
}

double reference_squared_distance(const Rows& x, std::int64_t i, const Rows& z, std::int64_t j) {
    return squared_distance(row_of(x, i), row_of(z, j));
}

void reference_beginnings(const Kernel& kernel, const Rows& x, std::int64_t i, const Rows& z, std::int64_t n,
                          double* values) {
    const Sparse row = row_of(x, i);
    if (kernel.of_distances())
        for (std::int64_t t = 0; t < n; ++t) values[t] = squared_distance(row, row_of(z, t));
    else
        for (std::int64_t t = 0; t < n; ++t) values[t] = dot(row, row_of(z, t));
}

void reference_kernel_from(const Kernel& kernel, std::int64_t vectors, std::int64_t width, std::int64_t count,
                           double* values) {
    const std::int64_t n = vectors * width;
    switch (kernel.type) {
        case KernelType::linear: return;
        case KernelType::polynomial:
            return loops().wide_reference->powers(n, kernel.gamma, kernel.coef0, kernel.degree, values);
        case KernelType::rbf:
        case KernelType::exponential:
            if (const ExpLoop exp = library_exp()) {
                for (std::int64_t s = 0; s < n && kernel.by_differences(); ++s) values[s] = std::sqrt(values[s]);
                return exp(n, -kernel.gamma, values);
            }
            break;
        default: break;
    }
    for (std::int64_t v = 0; v < vectors; ++v)
        for (std::int64_t s = 0; s < count; ++s) values[v * width + s] = reference_value(kernel, values[v * width + s]);
}

void kernel_from_dots(const Kernel& kernel, std::int64_t n, double squared_norm, const double* squared_norms,
                      double inverse_root, const double* inverse_roots, double* values) {
    switch (kernel.type) {
        case KernelType::rbf: return loops().rbf_from_dots(n, kernel.gamma, squared_norm, squared_norms, values);
        case KernelType::polynomial:
            return loops().polynomial_from_dots(n, kernel.gamma, kernel.coef0, kernel.degree, values);
        case KernelType::sigmoid:
            for (std::int64_t s = 0; s < n; ++s) values[s] = std::tanh(kernel.gamma * values[s] + kernel.coef0);
            return;
        case KernelType::normalized_polynomial:
            loops().polynomial_from_dots(n, kernel.gamma, kernel.coef0, kernel.degree, values);
            for (std::int64_t s = 0; s < n; ++s) values[s] *= inverse_root * inverse_roots[s];
            return;
        case KernelType::linear:
        case KernelType::precomputed:
        case KernelType::exponential: return;
    }
}

void kernel_from_squared_distances(const Kernel& kernel, std::int64_t n, double* values) {
    if (kernel.type == KernelType::exponential)
        for (std::int64_t s = 0; s < n; ++s) values[s] = std::sqrt(values[s]);
    loops().exp_of_norms(n, kernel.gamma, values);
}

}  // namespace fastsvm

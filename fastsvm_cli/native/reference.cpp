// Compiled without contraction; see CMakeLists.txt. The order of every operation here is LIBSVM's (svm.cpp, Kernel::k_function,
// svm_predict_values) and must stay so.
#include <cmath>

#include "machine.h"

namespace fastsvm {

namespace {

struct Sparse {
    const std::int32_t* index;
    const double* value;
    const std::int32_t* end;
};

Sparse row_of(const Rows& rows, std::int64_t row) {
    return {rows.indices.data() + rows.begin(row), rows.values.data() + rows.begin(row), rows.indices.data() + rows.end(row)};
}

double dot(Sparse x, Sparse y) {
    double sum = 0;
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

double squared_distance(Sparse x, Sparse y) {
    double sum = 0;
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

double kernel(const Machine& m, Sparse x, Sparse y) {
    switch (m.kernel) {
        case KernelType::linear: return dot(x, y);
        case KernelType::polynomial: return powi(m.gamma * dot(x, y) + m.coef0, m.degree);
        case KernelType::rbf: return std::exp(-m.gamma * squared_distance(x, y));
        case KernelType::sigmoid: return std::tanh(m.gamma * dot(x, y) + m.coef0);
        case KernelType::precomputed: return x.value[static_cast<int>(*y.value)];
        case KernelType::exponential: return std::exp(-m.gamma * std::sqrt(squared_distance(x, y)));
        case KernelType::normalized_polynomial: {
            const auto k = [&m](Sparse a, Sparse b) { return powi(m.gamma * dot(a, b) + m.coef0, m.degree); };
            return k(x, y) / std::sqrt(k(x, x) * k(y, y));
        }
    }
    return 0;
}

}  // namespace

double reference_kernel(const Machine& m, const Rows& x, std::int64_t i, const Rows& z, std::int64_t j) { return kernel(m, row_of(x, i), row_of(z, j)); }

double reference_squared_distance(const Rows& x, std::int64_t i, const Rows& z, std::int64_t j) { return squared_distance(row_of(x, i), row_of(z, j)); }

void reference_sum(const Machine& m, const Rows& rows, std::int64_t row, double* kernel_values, double* out) {
    const Rows& sv = *m.vectors;
    const Sparse x = row_of(rows, row);
    const std::int64_t n = sv.rows;
    for (std::int64_t i = 0; i < n; ++i) kernel_values[i] = kernel(m, x, row_of(sv, i));

    const int stride = sv.leading;
    const double* const coef = sv.labels.data();
    if (m.classes() == 1 && m.pairs() == 1) {  // one-class and regression
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += coef[i * stride] * kernel_values[i];
        out[0] = sum - m.rho[0];
        return;
    }
    std::int64_t pair = 0, start_i = 0;
    for (std::int64_t i = 0; i < m.classes(); start_i += m.nr_sv[i++]) {
        std::int64_t start_j = start_i + m.nr_sv[i];
        for (std::int64_t j = i + 1; j < m.classes(); start_j += m.nr_sv[j++], ++pair) {
            double sum = 0;
            for (std::int64_t k = start_i; k < start_i + m.nr_sv[i]; ++k) sum += coef[k * stride + j - 1] * kernel_values[k];
            for (std::int64_t k = start_j; k < start_j + m.nr_sv[j]; ++k) sum += coef[k * stride + i] * kernel_values[k];
            out[pair] = sum - m.rho[pair];
        }
    }
}

}  // namespace fastsvm

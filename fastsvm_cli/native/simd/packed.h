// Packed homogeneous polynomials: a coefficient per monomial z_j1 ... z_jk, j1 <= ... <= jk, in lexicographic order.
// Degree k in d variables is, for j = 0..d-1, z_j times degree k - 1 in variables j..d-1: sub-block j.
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr int max_degree = 4;

// The number of monomials, C(d + k - 1, k); k up to max_degree.
static inline std::int64_t packed_size(int k, std::int64_t d) {
    switch (k) {
        case 0: return 1;
        case 1: return d;
        case 2: return d * (d + 1) / 2;
        case 3: return d * (d + 1) / 2 * (d + 2) / 3;
        default: return d * (d + 1) / 2 * (d + 2) / 3 * (d + 3) / 4;
    }
}

// Offset of sub-block j.
static inline std::int64_t packed_offset(int k, std::int64_t d, std::int64_t j) {
    return packed_size(k, d) - packed_size(k, d - j);
}

// Adds the derivative of p (degree k in d variables) along m, (d), to `out`. With p = sum_j z_j q_j: D p = sum_j m_j
// q_j + z_j D q_j.
static inline void add_derivative(int k, std::int64_t d, const double* p, const double* m, double* out) {
    if (k == 1) {
        for (std::int64_t j = 0; j < d; ++j) out[0] += p[j] * m[j];
        return;
    }
    for (std::int64_t j = 0; j < d; ++j) {
        const double* const q = p + packed_offset(k, d, j);
        const std::int64_t length = packed_size(k - 1, d - j);
        double* const tail = out + packed_size(k - 1, d) - length;
        if (m[j] != 0)
            for (std::int64_t i = 0; i < length; ++i) tail[i] += m[j] * q[i];
        add_derivative(k - 1, d - j, q, m + j, out + packed_offset(k - 1, d, j));
    }
}

// Calls visit(position, orderings) per monomial; orderings: how many orders its factors have.
template <class Visit> void for_each_monomial(int k, std::int64_t d, Visit visit) {
    std::int64_t position = 0;
    const auto descend = [&](const auto& self, int left, std::int64_t from, std::int64_t last, int run,
                             double orderings) -> void {
        if (left == 0) return visit(position++, orderings);
        for (std::int64_t j = from; j < d; ++j) {
            const int length = j == last ? run + 1 : 1;
            self(self, left - 1, j, j, length, orderings * (k - left + 1) / length);
        }
    };
    descend(descend, k, 0, -1, 0, 1.0);
}

}  // namespace fastsvm

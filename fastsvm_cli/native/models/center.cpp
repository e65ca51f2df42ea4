#include "models/center.h"

#include <cmath>
#include <limits>

#include "exact/reference/rounding.h"

namespace fastsvm {

Center::Center(const double* m, std::int64_t d, double largest_norm, bool gaussian, double gamma)
    : m(m, m + d), largest_norm(largest_norm) {
    for (double x : this->m) squared_norm += x * x;
    moved = squared_norm != 0;
    const double limit = 16 * gamma * gamma * largest_norm;
    norm_limit = gaussian && limit > 0 ? 1 / limit : infinite;
    // B35, with a margin for rounding.
    const double reach = length(largest_norm, static_cast<double>(d)) * (1 + 1e-9) + std::sqrt(27.7 / gamma);
    far_norm = gaussian && gamma > 0 ? reach * reach : infinite;
}

}  // namespace fastsvm

// The center of Maclaurin expansions, and how far from it they are valid.
#pragma once
#include <cstdint>
#include <vector>

namespace fastsvm {

struct Center {
    // Center of Maclaurin expansions. m: (d). largest_norm: largest |x - m|^2 of its support vectors. gaussian: RBF
    // with this gamma; finite expansions have no limits.
    Center(const double* m, std::int64_t d, double largest_norm, bool gaussian, double gamma);

    std::vector<double> m;
    double squared_norm = 0;  // |m|^2
    double largest_norm;
    // Above this |z - m|^2, all of the center's support vectors have K < 1e-12; expansions are skipped (B35).
    double far_norm;
    // Claesen et al., eq. (3.11): |z - m|^2 must be below this.
    double norm_limit;
    bool moved;  // m is not the origin
};

}  // namespace fastsvm

// The points that Maclaurin expansions are about.
#pragma once
#include <cstdint>
#include <vector>

namespace fastsvm {

struct Center {
    // m: (d). largest_norm: the largest |x - m|^2 of its support vectors. gaussian: of an rbf kernel with this gamma; a
    // finite expansion has no bound to keep, and no vector is far from it.
    Center(const double* m, std::int64_t d, double largest_norm, bool gaussian, double gamma);

    std::vector<double> m;
    double squared_norm = 0;  // |m|^2
    double largest_norm;
    // From this |z - m|^2 on every support vector of the centre has K < 1e-12: its expansions are skipped (B35).
    double far_norm;
    // The bound of Claesen et al., eq. (3.11): |z - m|^2 must stay below it.
    double norm_limit;
    bool moved;  // whether m is another point than the origin
};

}  // namespace fastsvm

// Maclaurin expansions of decision functions (Claesen, De Smet, Suykens, De Moor, eqs. 3.7 and 3.8), about a chosen centre.
#pragma once
#include <cstdint>
#include <vector>

#include "decisions.h"
#include "features.h"
#include "rows.h"

namespace fastsvm {

// f(z) ~ sum over the expansions of its pair of  w(z) (c + v.(z - m) + (z - m)'M(z - m))  -  rho,
// with w(z) = exp(-gamma |z - m|^2) for the RBF kernel (gaussian) and 1 for linear and polynomial kernels.
class Maclaurin {
public:
    Maclaurin(std::vector<std::int32_t> features, bool gaussian, double gamma, int degree, std::vector<double> rho)
        : features_(std::move(features)), gaussian_(gaussian), gamma_(gamma), degree_(degree), rho_(std::move(rho)) {}

    // m: (d). largest_norm: the largest squared norm of a support vector about m, for the bound of eq. (3.11).
    void add_center(const double* m, double largest_norm);
    // v: (d), used from degree 1; packed: d (d + 1) / 2 numbers, the upper triangle of the symmetric M row by row, used from degree 2.
    // `single`: the numbers of M are single precision, and are kept so when that saves cache.
    void add_expansion(std::int64_t pair, std::int64_t center, double c, const double* v, const double* packed, bool single);
    // Rows are done on all threads; each row's value depends on that row alone.
    void decision_values(const Rows& rows, Decisions& out) const;

    std::int64_t dimension() const { return features_.size(); }
    std::int64_t pairs() const { return static_cast<std::int64_t>(rho_.size()); }
    // Numbers per expansion: c, from degree 1 v, from degree 2 the triangle of M.
    std::int64_t coefficients() const {
        const std::int64_t d = dimension();
        return 1 + (degree_ >= 1 ? d : 0) + (degree_ >= 2 ? d * (d + 1) / 2 : 0);
    }

private:
    struct Center {
        std::vector<double> m;  // (d)
        double squared_norm;
        double norm_limit;      // eq. (3.11): |z - m|^2 must stay below it
        bool moved;             // m is not the origin
    };
    struct Expansion {
        std::int64_t pair, center;
        bool centered;             // evaluated in z - m, because raw coordinates would lose too many digits
        double c;
        std::vector<double> v;     // (d)
        std::vector<float> packed_float;    // one of the two holds the packed triangle, off-diagonals doubled
        std::vector<double> packed_double;
    };
    struct Block;  // one thread's rows

    void evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, Decisions& out) const;
    std::int64_t row_start(std::int64_t j) const { return j * dimension() - j * (j - 1) / 2 - j; }

    Features features_;
    bool gaussian_;
    double gamma_;
    int degree_;
    std::vector<double> rho_;
    std::vector<std::int64_t> row_starts_;
    std::vector<Center> centers_;
    std::vector<Expansion> expansions_;
};

}  // namespace fastsvm

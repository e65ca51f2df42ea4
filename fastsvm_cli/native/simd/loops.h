// The hot loops, compiled once per instruction set and chosen at run time.
#pragma once
#include <cstdint>

#include "simd/grid_loops.h"
#include "simd/polynomials.h"
#include "simd/products.h"
#include "simd/reference_lanes.h"
#include "simd/text_loops.h"
#include "simd/tiles.h"

namespace fastsvm {

constexpr int lanes = 8;          // rows, or support vectors, side by side
constexpr int panel = 4 * lanes;  // support vectors per panel

// Groups of `of` that hold n, and the places in them.
constexpr std::int64_t groups(std::int64_t n, std::int64_t of) { return (n + of - 1) / of; }
constexpr std::int64_t whole(std::int64_t n, std::int64_t of) { return groups(n, of) * of; }

constexpr int most_degrees = 20, most_terms = 120;

// Powers for degree_terms: degrees from..to, at most most_degrees, and `terms` more, at most most_terms. far: some |t|
// > 12. inverse_factorial[k]: 1 / k!.
struct DegreeSeries {
    int from, to, terms;
    bool far;
    double scale;
    double inverse_factorial[most_degrees + most_terms + 1];
};

struct Loops {
    const char* name;

    // Named by the precision of the highest degree's coefficients.
    const PolynomialLoops<float>* single_polynomials;
    const PolynomialLoops<double>* double_polynomials;

    // out[s] = sum_e x[e] * block[columns[e]][s] for one panel; block is (d, panel).
    void (*panel_dots)(const double* block, std::int64_t count, const std::int32_t* columns, const double* x,
                       double* out);
    // out[s] = outside + sum over d columns of (x[c] - block[c][s])^2.
    void (*panel_distances)(const double* block, std::int64_t d, const double* x, double outside, double* out);
    // The same for `lanes` vectors, from the first column of `block`.
    void (*lane_dots)(const double* block, std::int64_t count, const std::int32_t* columns, const double* x,
                      double* out);
    void (*lane_distances)(const double* block, std::int64_t d, const double* x, double outside, double* out);
    // out[v][s] = sum_c x[v][c * stride] rows[c][s], out (vectors, panel), for the first n rows of a panel, n a
    // multiple of `lanes`, and one, two or four vectors. Numbers do not depend on n.
    void (*tile_dots)(int vectors, std::int64_t n, std::int64_t count, const double* rows, const double* const* x,
                      std::int64_t stride, double* out);
    // panel_dots for the first n of a panel; numbers do not depend on n.
    void (*part_dots)(const double* block, std::int64_t n, std::int64_t count, const std::int32_t* columns,
                      const double* x, double* out);
    // out[r][s] = sum_i x[r][i] * block[i][s] for four rows and all columns of a block (count, panel).
    void (*panel_products)(const double* block, std::int64_t count, const double* const* x, double* const* out);
    // values[s] = exp(-gamma * max(0, norm + norms[s] - 2 values[s])); in these three, n is a multiple of lanes.
    void (*rbf_from_dots)(std::int64_t n, double gamma, double norm, const double* norms, double* values);
    // values[s] = exp(-gamma values[s]) for values >= 0
    void (*exp_of_norms)(std::int64_t n, double gamma, double* values);
    // values[s] = (gamma values[s] + coef0)^degree
    void (*polynomial_from_dots)(std::int64_t n, double gamma, double coef0, int degree, double* values);
    // For n support vectors (a multiple of lanes) and one x, with a = weight weights[s], t = scale dots[s]: adds a t^k
    // / k!, k = from..to, then the sum over k > to, to sums, (to - from + 2, lanes). For |t| > 12 that is bare bares[s]
    // exp(t - norm - norms[s]) less the terms up to `to`, with weight = bare exp(-norm), norm = gamma |x|^2; weights
    // likewise.
    void (*degree_terms)(std::int64_t n, const DegreeSeries& series, double weight, double bare, double norm,
                         const double* dots, const double* weights, const double* bares, const double* norms,
                         double* sums);
    double (*dot)(std::int64_t n, const double* a, const double* b);
    // out[p] += x * w[p]
    void (*add_scaled)(std::int64_t n, double x, const double* w, double* out);
    // For narrow_group and wide_group rows side by side.
    const ReferenceLoops* narrow_reference;
    const ReferenceLoops* wide_reference;
    const GridLoops* grid;
    // count[r] += 1 if (sums[r] - rho)^2 >= width rest[r], for n rows, a multiple of lanes.
    void (*count_certain)(std::int64_t n, double rho, double width, const double* rest, const double* sums,
                          double* count);
    // For n rows (a multiple of lanes) at low[r] to high[r] from a point, and vectors at nearest to farthest: near[r] =
    // max(0, nearest - high[r], low[r] - farthest), far[r] = farthest + high[r]; both squared if `squared`.
    void (*row_distances)(std::int64_t n, double nearest, double farthest, bool squared, const double* low,
                          const double* high, double* near, double* far);
    // count[r] += 1 if sums[r] - rho keeps its side of zero, whatever positive terms are added and negative ones
    // subtracted between smallest[r] and largest[r] times their weights; n rows, a multiple of lanes.
    void (*count_decided)(std::int64_t n, double rho, double positive, double negative, const double* largest,
                          const double* smallest, const double* sums, double* count);
    // Number of the n sums with (sums[p] - rho[p])^2 >= widths[p] rest.
    std::int64_t (*certain_sums)(std::int64_t n, const double* rho, const double* widths, double rest,
                                 const double* sums);
    const TileLoops* tiles;
    const ProductLoops* products;
    const TextLoops* text;
};

// The loops of the chosen instruction set.
const Loops& loops();

}  // namespace fastsvm

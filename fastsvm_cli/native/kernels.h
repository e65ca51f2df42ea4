// The hot loops, compiled once per instruction set (kernels.cpp) and chosen at run time.
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr int lanes = 8;          // rows, or support vectors, done side by side
constexpr int strip = 4 * lanes;  // support vectors per strip of the exact evaluation

struct Kernels {
    const char* name;

    // x'Ux with U the packed upper triangle (row j holds columns j..d-1, off-diagonals doubled), plus v.x, for one sparse row:
    // count entries, columns increasing. `row_start[j]` is the position of column 0 in packed row j (row_start[j] + k for k >= j).
    double (*quadratic_sparse_float)(const float* packed, const std::int64_t* row_start, const double* v, std::int64_t count,
                                     const std::int32_t* columns, const double* x);
    double (*quadratic_sparse_double)(const double* packed, const std::int64_t* row_start, const double* v, std::int64_t count,
                                      const std::int32_t* columns, const double* x);
    // The same for `lanes` dense rows: x is (d, lanes), out (lanes).
    void (*quadratic_dense_float)(const float* packed, const double* v, std::int64_t d, const double* x, double* out);
    void (*quadratic_dense_double)(const double* packed, const double* v, std::int64_t d, const double* x, double* out);

    // out[s] = sum_e x[e] * block[columns[e]][s] for the `strip` support vectors of one strip; block is (d, strip).
    void (*strip_dots)(const double* block, std::int64_t count, const std::int32_t* columns, const double* x, double* out);
    // values[s] = exp(-gamma * max(0, norm + norms[s] - 2 values[s]))
    void (*rbf_from_dots)(std::int64_t n, double gamma, double norm, const double* norms, double* values);
    // values[s] = (gamma values[s] + coef0)^degree
    void (*polynomial_from_dots)(std::int64_t n, double gamma, double coef0, int degree, double* values);
    double (*dot)(std::int64_t n, const double* a, const double* b);
    // out[p] += x * w[p]
    void (*add_scaled)(std::int64_t n, double x, const double* w, double* out);
};

const Kernels& kernels();
// "baseline", "avx2", "avx512"; false when this machine or build lacks it. For tests.
bool select_kernels(const char* name);

}  // namespace fastsvm

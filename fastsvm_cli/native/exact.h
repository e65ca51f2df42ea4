// Fast evaluation of an exact LIBSVM model, with the reference sum where rounding could decide.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "decisions.h"
#include "features.h"
#include "machine.h"

namespace fastsvm {

// Support vectors stand in strips of `strip` columns (or, when few entries are non-zero, in column lists), so that a sparse row
// costs its own non-zeros times n_SV products, done side by side; linear kernels fold into one vector per pair.
//
// Values differ from svm-predict's by rounding only, at most rounding_radius(). A value whose side of zero (or of one of `thresholds`)
// that radius leaves open sends its row to the reference sum, so that every label is svm-predict's.
class Exact {
public:
    using Threshold = std::pair<double, double>;  // value, margin
    explicit Exact(Machine machine);
    // precise: the values themselves are used, not only their side of zero: for RBF they are within 1e-9 sum |coef| of svm-predict's.
    // thresholds: further values (and margins about them) whose side must be settled; only for models with one pair. When a precomputed row lacks serials,
    // returns that row, else -1.
    std::int64_t decision_values(const Rows& rows, bool precise, const std::vector<Threshold>& thresholds, Decisions& out) const;
    const Machine& machine() const { return machine_; }

private:
    struct Block;
    void evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, double* value) const;
    void fold_linear();
    void lay_out_strips(double density);
    void row_terms(const Rows& rows, std::int64_t row, bool precise, double* common, double* per_sum, double* scale) const;
    double rounding_radius(std::int64_t pair, double common, double per_sum, double scale, double value) const;
    void kernel_from_dots(std::int64_t n, double squared_norm, const double* norms, double* values) const;
    void accumulate(std::int64_t from, std::int64_t to, const double* kernel_values, double* value) const;
    std::int64_t pair_of(std::int64_t i, std::int64_t j) const { return i * machine_.classes() - i * (i + 1) / 2 + (j - i - 1); }

    Machine machine_;
    Features features_;
    double largest_norm_ = 0;               // largest |x_i|
    std::int64_t largest_count_ = 0;        // most entries in a support vector
    std::vector<double> pair_weight_;       // per pair: sum |coef|, for linear kernels sum |coef| |x|
    std::vector<std::int64_t> pair_count_;  // per pair: its support vectors

    bool linear_ = false;
    std::vector<double> weights_;           // linear: (d, pairs)

    // Padded order: every class begins a new strip, so that a strip belongs to one class.
    std::int64_t padded_ = 0;               // padded number of support vectors
    std::vector<std::int64_t> class_start_; // (classes + 1), padded
    std::vector<double> norms_;             // (padded): |x|^2, 0 in the padding
    std::vector<double> coef_;              // (nr_class - 1, padded), 0 in the padding
    std::vector<double> blocks_;            // (strips, d, strip) when dense
    std::vector<std::int64_t> list_start_;  // (d + 1) when sparse
    std::vector<std::int32_t> list_vector_;
    std::vector<double> list_value_;
};

}  // namespace fastsvm

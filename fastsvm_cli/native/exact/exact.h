// Fast evaluation of an exact LIBSVM model, with the reference sum where rounding could decide.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "answers/decisions.h"
#include "exact/reference.h"
#include "exact/rounding.h"
#include "exact/strips.h"
#include "exact/svm_model.h"
#include "exact/votes.h"
#include "text/features.h"

namespace fastsvm {

// Support vectors stand in strips of `strip` columns (or, when few entries are non-zero, in column lists), so that a
// sparse row costs its own non-zeros times n_SV products, done side by side; linear kernels fold into one vector per
// pair.
//
// Values differ from svm-predict's by rounding only, at most Rounding::radius(). A value whose side of zero (or of one
// of `thresholds`) that radius leaves open sends its row to the reference sum, so that every label is svm-predict's.
// Where labels alone are asked for (Decisions::labels_alone, more than two classes), kernel values are computed once
// and only the pairs that can still change the winner get a value.
class Exact {
public:
    using Threshold = std::pair<double, double>;  // value, margin
    explicit Exact(SvmModel model);
    // precise: the values themselves are used, not only their side of zero: for RBF they are within 1e-9 sum |coef| of
    // svm-predict's. thresholds: further values (and margins about them) whose side must be settled; only for models
    // with one pair. Memory beyond `out` does not grow with rows times pairs. Rows of a precomputed kernel: see
    // without_serials.
    void decision_values(const Rows& rows, bool precise, const std::vector<Threshold>& thresholds,
                         Decisions& out) const;
    // Values with the radius of their rounding, which bounds how far they are from the exact ones too; no reference
    // sum. Not for precomputed kernels.
    void fast_values(const Rows& rows, Decisions& out) const;
    // The first row that lacks a serial number some support vector asks for, of a precomputed kernel; -1: none. Others
    // must not be evaluated.
    std::int64_t without_serials(const Rows& rows) const;
    const SvmModel& model() const { return model_; }

private:
    struct Block;
    void take_rows(const Rows& rows, std::int64_t first, std::int64_t last, Block& block) const;
    void evaluate(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, double* value) const;
    void sparse_kernel_values(const Columns& row, double squared_norm, double* values) const;
    std::int64_t elect(const Rows& rows, std::int64_t first, std::int64_t last, Block& block,
                       std::int32_t* winner) const;
    void elect_by_reference(const Rows& rows, std::int64_t first, Block& block, Votes& votes,
                            std::int32_t* winner) const;
    int likely_class(const double* kernel_values) const;
    void sums_of_class(std::int64_t c, const double* kernel_values, std::vector<double>& own, double* sums) const;
    void fold_linear();
    void lay_out();
    void accumulate(std::int64_t from, std::int64_t to, const double* kernel_values, double* value) const;

    SvmModel model_;
    Features features_;
    bool linear_ = false;
    std::vector<double> weights_;  // linear: (d, pairs)

    // Padded order: every class begins a new strip, so that a strip belongs to one class; small classes stand without
    // gaps.
    std::int64_t padded_ = 0;                // padded number of support vectors, whole strips
    std::vector<std::int64_t> class_start_;  // (classes + 1), in the padded order
    std::vector<double> coef_;               // (nr_class - 1, padded), 0 in the padding
    std::optional<Strips> strips_;           // when dense
    std::vector<double> norms_;              // when sparse (padded): |x|^2, 0 in the padding
    std::vector<std::int64_t> list_start_;   // (d + 1)
    std::vector<std::int32_t> list_vector_;
    std::vector<double> list_value_;
    std::optional<Rounding> rounding_;
};

}  // namespace fastsvm

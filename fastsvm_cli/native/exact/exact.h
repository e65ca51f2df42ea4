// Fast evaluation of an exact LIBSVM model, with the reference sum where rounding could decide.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "answers/coupling.h"
#include "answers/decisions.h"
#include "exact/column_lists.h"
#include "exact/ladder.h"
#include "exact/reference.h"
#include "exact/rounding.h"
#include "exact/strips.h"
#include "exact/svm_model.h"
#include "exact/votes.h"
#include "simd/pool.h"
#include "text/features.h"

namespace fastsvm {

// A ladder of evaluations, cheapest first; a row climbs while its label is open:
//   for labels alone, whole numbers where features take few values on one grid (grid_tiles.h),
//   and single precision in register tiles (single_tiles.h); with many small classes, a few pairs that these leave
//     open get their reference sum at once (all_pairs.h),
//   double precision: support vectors in strips of `strip` columns, or, where few entries are non-zero, in column
//     lists, so that a sparse row costs its own non-zeros times n_SV products, done side by side; linear kernels fold
//     into one vector per pair,
//   the reference sum: svm-predict's own numbers.
// Probabilities begin with double precision: the proven error of single precision, 3e-7 to 3e-6 of sum |a_i| K_i, is
// more than six printed digits allow (on three published models it settled no row, nor would a hundredth of it).
// Which of the first two pay is decided per model (ladder.h), and for probabilities whether the third does.
//
// Values differ from svm-predict's by rounding only, at most Rounding::radius(). A value whose side of zero (or of one
// of `thresholds`) that radius leaves open sends its row to the reference sum, so that every label is svm-predict's.
// Where labels alone are asked for (Decisions::labels_alone), kernel values are computed once and only the pairs that
// can still change the winner get a value.
class Exact {
public:
    using Threshold = std::pair<double, double>;  // value, margin
    explicit Exact(SvmModel model);
    ~Exact();
    // precise: the values themselves are used, not only their side of zero: they are within 1e-9 of svm-predict's, as a
    // share of sum |coef| and the largest a kernel value can be. thresholds: further values (and margins about them)
    // whose side must be settled, of models with one pair; odds: the six digits that are printed of these probabilities
    // must be. Memory beyond `out` does not grow with rows times pairs. Rows of a precomputed kernel: see
    // without_serials.
    void decision_values(const Rows& rows, bool precise, const std::vector<Threshold>& thresholds,
                         const std::optional<Odds>& odds, Decisions& out) const;
    // Values with the radius of their rounding, which bounds how far they are from the exact ones too; no reference
    // sum. Not for precomputed kernels.
    void fast_values(const Rows& rows, Decisions& out) const;
    // The same at the model's own support vectors, where a kernel value serves both of its vectors: half of the kernel
    // evaluations. Of models that `meets_itself` says it of: with one pair, and vectors in strips. progress: called
    // with the share that is done, on the calling thread; what it throws ends the evaluation. The values are the same
    // whatever the number of threads.
    void own_values(const std::function<void(double)>& progress, Decisions& out) const;
    bool meets_itself() const { return in_strips_ && model_.pairs() == 1; }
    // The first row that lacks a serial number some support vector asks for, of a precomputed kernel; -1: none. Others
    // must not be evaluated.
    std::int64_t without_serials(const Rows& rows) const;
    const SvmModel& model() const { return model_; }

private:
    struct Block;
    struct Layout;
    void take_rows(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const;
    void evaluate(const Rows& rows, const std::int64_t* which, std::int64_t n, bool sized, Block& block,
                  double* value) const;
    void label(const Rows& rows, std::int64_t first, std::int64_t last, Block& block, Decisions& out,
               RungRows& settled) const;
    void elect(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block, std::int32_t* winner) const;
    void decide(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block, std::int32_t* winner) const;
    void label_by_reference(const Rows& rows, Block& block, std::int32_t* winner) const;
    int likely_class(const double* kernel_values) const;
    struct OwnSums;
    void meet(std::int64_t of_rows, std::int64_t of_columns, Block& block, OwnSums& sums) const;
    template <class Value> int vote(const Rounding::Row& rounding, Votes& votes, Value value) const;
    void shares_of_classes(const double* kernel_values, double* shares) const;
    void sums_of_class(std::int64_t c, const double* kernel_values, std::vector<double>& own, double* sums) const;
    // Whether rows of which these probabilities are asked, the model's own, go to the reference sum at once: double
    // precision leaves too many of a few support vectors open, or costs no less.
    bool odds_at_once(const Odds& odds) const;
    double share_saved_by_double() const;
    void fold_linear();
    void place_vectors();
    const Layout& layout() const;
    const Ladder& ladder() const;
    template <class Visit> void for_each_run(std::int64_t from, std::int64_t to, Visit visit) const;
    void accumulate(std::int64_t from, std::int64_t to, const double* kernel_values, double* value,
                    RowSize* sizes) const;
    void accumulate_panels(std::int64_t from, std::int64_t to, Block& block, double* value) const;
    bool prints_alike(Coupling& coupling, const Rounding::Row& rounding, const double* value, const RowSize* sizes,
                      std::vector<double>& radii) const;
    double least_radius(std::int64_t pair, const Rounding::Row& rounding, double value, const RowSize* sizes) const;

    SvmModel model_;
    Features features_;
    bool linear_ = false;
    std::vector<double> weights_;  // linear: (d, pairs)

    // Padded order: every class begins a new strip, so that a strip belongs to one class; small classes stand without
    // gaps.
    std::int64_t padded_ = 0;                // padded number of support vectors, whole strips
    std::vector<std::int64_t> class_start_;  // (classes + 1), in the padded order
    std::vector<std::int64_t> order_;        // (padded): the support vector there, or -1
    bool in_strips_ = false;                 // rather than in lists by column
    // In every pair both classes have coefficients of one sign: the sizes of their sums add up to sum |a_i| K_i.
    bool one_signed_ = false;
    mutable std::once_flag laid_out_, climbed_, odds_tried_;
    mutable bool odds_at_once_ = false;
    mutable std::unique_ptr<const Layout> layout_;  // made when the first row is evaluated in double precision
    mutable std::unique_ptr<const Ladder> ladder_;  // when the first label is asked for
    std::optional<Rounding> rounding_;
    Pool<Block>::Lease block() const;
    Pool<Block> blocks_;
};

}  // namespace fastsvm

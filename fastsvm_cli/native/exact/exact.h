// The fast evaluation of exact models, with svm-predict's labels.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "exact/escalation.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
#include "simd/parallel.h"
#include "text/rows.h"

namespace fastsvm {

// Fast evaluation of an exact LIBSVM model, by levels of precision. A row escalates while its label is undecided:
//   1. labels only: whole numbers, if the features take few values on one grid (grid_tiles.h);
//   2. labels only: single precision (kernel_tiles.h);
//   3. double precision: support vectors in panels or, if sparse, in column lists; linear kernels folded by pair;
//   4. the reference sum: svm-predict's own numbers.
// Each model decides whether levels 1 and 2 pay (escalation.h) and, for probabilities, level 3. Probabilities skip 1
// and 2: single precision's proven error, 3e-7 to 3e-6 of sum |a_i| K_i, exceeds six printed digits (on three published
// models it decided no row, nor would a hundredth of it).
//
// Values differ from svm-predict's by rounding only, at most Rounding::radius(). If that leaves the side of zero (or of
// a threshold) open, the reference sum decides: every label is svm-predict's.
class Exact {
public:
    using Threshold = std::pair<double, double>;  // value, margin
    explicit Exact(SvmModel model);
    ~Exact();
    // precise: values within 1e-9 of svm-predict's, relative to sum |coef| times the largest possible kernel value.
    // thresholds: more values (and margins) whose side must be decided; one pair only. odds: six digits of its
    // probabilities must be decided. Memory beyond `out` does not grow with rows times pairs. Precomputed kernels:
    // rows have the serials of all support vectors.
    void decision_values(const Rows& rows, bool precise, const std::vector<Threshold>& thresholds,
                         const std::optional<Odds>& odds, Decisions& out) const;
    // Labels alone, without the levels below double precision, which take longer to make than few rows save.
    void labels_of_few(const Rows& rows, Decisions& out) const;
    // Values with rounding radii, which also hold against exact arithmetic. Not for precomputed kernels.
    void fast_values(const Rows& rows, Decisions& out) const;
    const SvmModel& model() const { return model_; }

private:
    struct Block;
    struct Layout;
    void take_rows(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const;
    void evaluate(const Rows& rows, const std::int64_t* which, std::int64_t n, bool sized, Block& block,
                  double* value) const;
    void label(const Rows& rows, std::int64_t first, std::int64_t last, bool few, Block& block, Decisions& out,
               LevelRows& decided) const;
    void elect(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block, std::int32_t* winner) const;
    void decide(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block, std::int32_t* winner) const;
    void reference(const Rows& rows, const std::int64_t* which, std::int64_t count, Block& block, double* value) const;
    void label_by_reference(const Rows& rows, Block& block, std::int32_t* winner) const;
    int likely_class(const double* kernel_values) const;
    void sums_of_class(std::int64_t c, const double* kernel_values, std::vector<double>& own, double* sums) const;
    // Whether probabilities skip level 3: it leaves too many sampled vectors open, or costs as much as level 4.
    bool odds_at_once(const Odds& odds) const;
    double share_saved_by_double() const;
    void fold_linear();
    void place_vectors();
    const Layout& layout() const;
    const Escalation& escalation() const;
    template <class Visit> void for_each_run(std::int64_t from, std::int64_t to, Visit visit) const;
    void accumulate(std::int64_t from, std::int64_t to, const double* kernel_values, double* value,
                    RowSize* sizes) const;
    void accumulate_row_panels(std::int64_t from, std::int64_t to, Block& block, double* value) const;
    bool prints_alike(Coupling& coupling, const Rounding::Row& rounding, const double* value, const RowSize* sizes,
                      std::vector<double>& radii) const;
    double least_radius(std::int64_t pair, const Rounding::Row& rounding, double value, const RowSize* sizes) const;

    SvmModel model_;
    Features features_;
    bool linear_ = false;
    std::vector<double> weights_;  // linear: (d, pairs)

    // Padded order: a class begins a new panel, unless classes are small.
    std::int64_t padded_ = 0;                // support vectors with padding, whole panels
    std::vector<std::int64_t> class_start_;  // (classes + 1)
    std::vector<std::int64_t> order_;        // (padded): index of the support vector, or -1
    bool in_panels_ = false;                 // otherwise in column lists
    // In every pair each class has coefficients of one sign.
    bool one_signed_ = false;
    mutable std::once_flag laid_out_, escalation_made_, odds_tried_;
    mutable bool odds_at_once_ = false;
    mutable std::unique_ptr<const Layout> layout_;
    mutable std::unique_ptr<const Escalation> escalation_;
    std::optional<Rounding> rounding_;
    Pool<Block>::Lease block() const;
    Pool<Block> blocks_;
};

// Private parts of Exact, for its files: the layout of support vectors, and a thread's scratch memory.

// Maximum number of rows per step.
constexpr std::int64_t block_rows = 64;

// Maximum length of a thread's scratch array, unless one row needs more: 4 MB; for many threads 25 MB in all.
inline std::int64_t numbers_per_thread() { return std::clamp<std::int64_t>((3 << 20) / get_threads(), 1, 1 << 19); }

// Support vectors and coefficients for level 3, double precision.
struct Exact::Layout {
    std::vector<double> coef;      // (nr_class - 1, padded)
    std::optional<Panels> panels;  // or
    std::optional<ColumnLists> lists;
};

// A thread's scratch memory.
struct Exact::Block {
    explicit Block(const SvmModel& model) : votes(static_cast<int>(model.classes())) {}
    std::vector<Columns> columns;
    PreparedRows rows;
    std::vector<double> kernel_values, scratch, value, own, sums, radii;
    Votes votes;
    Coupling coupling;
    std::vector<RowSize> sizes;  // (rows, pairs), or empty
    const RowSize* sizes_of(std::int64_t row, std::int64_t pairs) const {
        return sizes.empty() ? nullptr : sizes.data() + row * pairs;
    }
    std::vector<std::int64_t> undecided;      // for the next level
    std::vector<std::int64_t> undecided_now;  // for this level
    const std::int64_t* numbers(std::int64_t first, std::int64_t last) {
        undecided_now.resize(static_cast<std::size_t>(last - first));
        std::iota(undecided_now.begin(), undecided_now.end(), first);
        return undecided_now.data();
    }
};

}  // namespace fastsvm

// Interval-valued decision functions from a few kernel values (DeCoste, "Anytime Interval-Valued Outputs for Kernel
// Machines").
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "answers/decisions.h"
#include "answers/predictions.h"
#include "exact/rounding.h"
#include "exact/row_strips.h"
#include "exact/strips.h"
#include "exact/svm_model.h"

namespace fastsvm {

// In feature space, with S_1..S_k the chosen points, K_S = L L' their kernel matrix and X = L^-1, a row z has the
// coordinates y = X k(S, z) in their span, and w = sum a_i phi(x_i) the coordinates g = X <w, phi(S)>. What lies beside
// the span is bounded by its length:
//
//     f(z) = g.y - rho  +-  |w_perp| sqrt(K(z, z) - |y|^2),   |w_perp|^2 = |w|^2 - |g|^2.
//
// The interval is the paper's (eqs. 13, 14, 31) or narrower: its sphere is about the affine hull of the points, which
// the span contains. The proof that covers rounding, X being what was computed, is in bounds.py, B8 to B16; its names
// are used here.
class Geometry {
public:
    // points: (k) rows. b: (k, pairs), <w, phi(S_i)> = f(S_i) + rho, each within b_error (pairs). squared_norm:
    // (pairs), at least |w|^2.
    Geometry(SvmModel model, std::shared_ptr<const Rows> points, std::vector<double> b,
             std::vector<double> squared_norm, std::vector<double> b_error);

    // Rows meet the points and are left when their answer is settled: it is looked at after each of the first points,
    // then less and less often (first_stops), and from `strip` points on after every `strip` of them. With `steps` the
    // first look is after that many points, or `strip` where they are more, and the last one after that many. Values
    // and radii are those of that moment. Returns the rows that are not settled, increasing.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance, std::int64_t steps,
                                              Decisions& out) const;
    std::int64_t pairs() const { return pairs_; }

private:
    // What the first k points give, all upper bounds.
    struct Prefix {
        std::vector<double> perp, stray, g;  // (pairs): |w_perp|; what w_perp has in the span; |g|
        std::vector<double> widths;          // (pairs): perp^2, which tells where a look at the interval is no use
        double skew = 0;                     // |X K X' - I|
        double reach = 0, plain = 0;  // |v| and |v_1| of B12: |X| times the roots of K's diagonal, and times ones
    };
    struct Progress;
    struct Block;
    struct Start;
    void prepare(std::int64_t blocks) const;
    void factor(std::int64_t block) const;
    Prefix prefix(std::int64_t k) const;
    void measure(std::int64_t k, std::int64_t pair, Prefix& out) const;
    void begin(const Rows& rows, std::int64_t row, Progress& out) const;
    void meet_first_points(const Rows& rows, std::int64_t first, std::int64_t stop, Settled& settled, Decisions& out,
                           Start& start) const;
    void look_at(const Prefix& prefix, const Settled& settled, Start& start) const;
    void bound(const Prefix& prefix, std::int64_t k, const Progress& row, const double* projection, double* value,
               double* radius) const;

    SvmModel model_;
    std::shared_ptr<const Rows> points_;
    std::int64_t k_, pairs_;
    std::vector<double> b_, squared_norm_, b_error_;
    Strips strips_;
    Rounding rounding_;
    double point_error_ = 0;  // of a kernel value between two points

    // Factored as far as rows have asked for, stage by stage: most rows need few points.
    mutable std::mutex lock_;
    mutable std::atomic<std::int64_t> ready_{0};        // blocks
    mutable std::vector<std::vector<double>> l_;        // rows of L without the diagonal
    mutable std::vector<std::vector<double>> columns_;  // columns of L without the diagonal, each (k padded)
    mutable std::vector<std::vector<double>> kernel_;   // rows of K, up to the diagonal; with few pairs
    mutable std::vector<double> diagonal_;              // of L; infinite for a point in the span of those before it
    mutable std::vector<Aligned<double>> x_strips_;     // per block: ((block + 1) strip, strip), X transposed
    std::vector<std::int32_t> identity_;                // 0, 1, 2, ...
    mutable std::vector<double> g_;                     // (k padded, pairs)
    mutable std::vector<double> g_squares_;             // (k, pairs): |g|^2 up to here
    mutable std::vector<double> reach_, plain_;         // (k): |v|^2 and |v_1|^2 up to here
    mutable std::vector<double> roots_;                 // (k): of K's diagonal
    mutable std::vector<Prefix> prefix_;                // per block, at its end
    mutable std::vector<Prefix> first_prefix_;          // at first_stops_
    std::vector<StripRow> first_;                       // points
    std::vector<std::int64_t> first_stops_;             // after how many of them a row is looked at
};

}  // namespace fastsvm

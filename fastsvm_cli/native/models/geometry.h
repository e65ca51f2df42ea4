// Interval-valued decision functions from a few kernel values (DeCoste, "Anytime Interval-Valued Outputs for Kernel
// Machines").
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "answers/decisions.h"
#include "answers/predictions.h"
#include "exact/rounding.h"
#include "exact/row_strips.h"
#include "exact/strips.h"
#include "exact/svm_model.h"
#include "models/point_span.h"
#include "simd/pool.h"

namespace fastsvm {

// A row z has the coordinates y = X k(S, z) in the span of chosen points S_1..S_k (point_span.h), a decision function
// g, and what lies beside the span is bounded by its length:
//
//     f(z) = g.y - rho  +-  |w_perp| sqrt(K(z, z) - |y|^2).
//
// The interval is the paper's (eqs. 13, 14, 31) or narrower: its sphere is about the affine hull of the points, which
// the span contains. The proof that covers rounding is in bounds.py, B8 to B16; its names are used here.
class Geometry {
public:
    // points: (k) rows. b: (k, pairs), <w, phi(S_i)> = f(S_i) + rho, each within b_error (pairs). squared_norm:
    // (pairs), at least |w|^2.
    Geometry(SvmModel model, std::shared_ptr<const Rows> points, std::vector<double> b,
             std::vector<double> squared_norm, std::vector<double> b_error);

    Geometry(const Geometry&) = delete;
    ~Geometry();

    // Rows meet the points and are left when their answer is settled: it is looked at after few of the first points,
    // then less and less often (first_stops_), and from the last of these on after every `strip` points. With `steps`
    // the first look is after that many points, or `strip` where they are more, and the last one after that many.
    // Values and radii are those of that moment. Returns the rows that are not settled, increasing.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance, std::int64_t steps,
                                              Decisions& out) const;
    std::int64_t pairs() const { return pairs_; }

private:
    struct Progress;
    struct Block;
    struct Start;
    void begin(const Rows& rows, std::int64_t row, Progress& out) const;
    void meet_first_points(const Rows& rows, std::int64_t first, std::int64_t stop, Settled& settled, Decisions& out,
                           Start& start) const;
    void look_at(const PointSpan::Prefix& prefix, const Settled& settled, Start& start) const;
    void bound(const PointSpan::Prefix& prefix, std::int64_t k, const Progress& row, const double* projection,
               double* value, double* radius) const;

    SvmModel model_;
    std::shared_ptr<const Rows> points_;
    std::int64_t k_, pairs_;
    Strips strips_;  // the points
    Rounding rounding_;
    std::vector<std::int64_t> first_stops_;  // after how many of the first points a row is looked at
    PointSpan span_;
    std::vector<StripRow> first_;  // points
    Pool<Block> blocks_;
    Pool<Start> starts_;
};

}  // namespace fastsvm

// Geometry models: intervals from a few kernel values (DeCoste, "Anytime Interval-Valued Outputs for Kernel Machines:
// Fast Support Vector Machine Classification via Distance Geometry"). Format: FORMAT.md; proof: PROOFS.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "answers/predictions.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
#include "models/ordered.h"
#include "models/point_span.h"
#include "simd/parallel.h"

namespace fastsvm {

// Interval-valued decision functions from a few kernel values (DeCoste, "Anytime Interval-Valued Outputs for Kernel
// Machines"). With coordinates y of a row and g of w in the span of some points (point_span.h):
//
//     f(z) = g.y - rho  +-  |w_perp| sqrt(K(z, z) - |y|^2).
//
// The interval is the paper's (eqs. 13, 14, 31) or narrower: its sphere is about the points' affine hull, which the
// span contains. Proof with rounding: B8 to B16 of PROOFS.md, same names.
class Geometry {
public:
    // points: (k) rows. b: (k, pairs), <w, phi(S_i)> = f(S_i) + rho, each within b_error (pairs). squared_norm:
    // (pairs), at least |w|^2.
    Geometry(SvmModel model, std::shared_ptr<const Rows> points, std::vector<double> b,
             std::vector<double> squared_norm, std::vector<double> b_error);

    Geometry(const Geometry&) = delete;
    ~Geometry();

    // Rows meet points until decided; they are checked at first_stops_ (if pairs are few), then after every `panel`
    // points. With `steps`: first after min(steps, panel) points, last after `steps`. Returns the undecided rows,
    // increasing; values and radii are the last ones.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance, std::int64_t steps,
                                              Decisions& out) const;
    std::int64_t pairs() const { return pairs_; }

private:
    struct Progress;
    struct Block;
    struct Start;
    void begin(const Rows& rows, std::int64_t row, Progress& out) const;
    void meet_first_points(const Rows& rows, std::int64_t first, std::int64_t stop, DecisionTest& decided,
                           Decisions& out, Start& start) const;
    void look_at(const PointSpan::Prefix& prefix, const DecisionTest& decided, Start& start) const;
    void bound(const PointSpan::Prefix& prefix, std::int64_t k, const Progress& row, const double* projection,
               double* value, double* radius) const;

    SvmModel model_;
    std::shared_ptr<const Rows> points_;
    std::int64_t k_, pairs_;
    Panels panels_;  // the points
    Rounding rounding_;
    std::vector<std::int64_t> first_stops_;  // numbers of points
    PointSpan span_;
    std::vector<PreparedRow> first_;  // the first points
    Pool<Block> blocks_;
    Pool<Start> starts_;
};

// A LIBSVM model with points S_1..S_k, whose kernel values with a row bound its decision values.
class GeometryFile : public OrderedFile {
public:
    using OrderedFile::OrderedFile;

    std::string sequence;
    std::shared_ptr<const Rows> all_vectors;  // the support vectors, then the folded ones, whose coefficients are 0
    std::vector<std::int64_t> points;         // (k) rows of all_vectors, in order of evaluation
    std::vector<double> b, squared_norm, b_error;  // (k, pairs), (pairs), (pairs): see Geometry

    const char* kind() const override { return "geometry"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::string ordered_by() const override;
    std::shared_ptr<Model> stopped_after(std::int64_t steps) const override;

protected:
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm

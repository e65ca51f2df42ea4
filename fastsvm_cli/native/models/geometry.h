// Geometry models: intervals from a few kernel values (DeCoste, "Anytime Interval-Valued Outputs for Kernel Machines:
// Fast Support Vector Machine Classification via Distance Geometry"). Format: FORMAT.md; proof: PROOFS.md.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "answers/predictions.h"
#include "exact/reference/reference.h"
#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
#include "models/ordered.h"
#include "simd/parallel.h"

namespace fastsvm {

// Span of points S_1..S_k in feature space: kernel matrix K_S = L L', X = L^-1. A decision function w = sum a_i
// phi(x_i) has coordinates g = X <w, phi(S)>; the rest has length |w_perp|, |w_perp|^2 = |w|^2 - |g|^2. Proof with
// rounding, for X as computed: B10 to B14 of PROOFS.md, same names.
class PointSpan {
public:
    // Upper bounds from the first k points.
    struct Prefix {
        std::vector<double> perp, stray, g;  // (pairs): |w_perp|; its part in the span; |g|
        std::vector<double> widths;          // (pairs): perp^2, to skip checks
        double skew = 0;                     // |X K X' - I|
        double reach = 0, plain = 0;         // |v| and |v_1| of B12
    };
    // at_points: b, (k, pairs), <w, phi(S_i)>, each within point_errors (pairs); squared_norms: (pairs), at least
    // |w|^2.
    struct Functions {
        std::vector<double> at_points, squared_norms, point_errors;
        std::int64_t pairs() const { return static_cast<std::int64_t>(squared_norms.size()); }
    };
    // points: (k) rows; panels: the same, in order; must outlive this. kernel_error: between two points. stops:
    // increasing numbers of points with a Prefix, besides ends of panels.
    PointSpan(std::shared_ptr<const Rows> points, const Panels& panels, double kernel_error, Functions functions,
              std::vector<std::int64_t> stops);

    // Factors the first `panels` panels of points; most rows need few. Call before using them, on any thread.
    void prepare(std::int64_t panels) const;
    const Prefix& at_end_of(std::int64_t panel_number) const { return at_ends_[panel_number]; }
    const Prefix& at_stop(std::size_t stop) const { return at_stops_[stop]; }
    Prefix prefix(std::int64_t k) const;
    // Rows of X of a panel, transposed: ((panel_number + 1) panel, panel).
    const double* x(std::int64_t panel_number) const { return x_panels_[panel_number].data(); }
    // Coordinates g of a point: (pairs); those of the next points follow.
    const double* g(std::int64_t point) const { return g_.data() + point * pairs_; }

private:
    void factor(std::int64_t block) const;
    void measure(std::int64_t k, std::int64_t pair, Prefix& out) const;

    std::shared_ptr<const Rows> points_;
    const Panels& panels_;
    double kernel_error_;
    std::int64_t k_, pairs_;
    Functions of_;
    std::vector<std::int64_t> stops_;
    std::vector<std::int32_t> identity_;

    mutable std::mutex lock_;
    mutable std::atomic<std::int64_t> ready_{0};        // panels
    mutable std::vector<std::vector<double>> l_;        // rows without the diagonal
    mutable std::vector<std::vector<double>> columns_;  // of L without the diagonal, each (k padded)
    mutable std::vector<std::vector<double>> kernel_;   // rows up to the diagonal; only with few pairs
    mutable std::vector<double> diagonal_;              // of L; infinite for a point in the span of earlier ones
    mutable std::vector<Aligned<double>> x_panels_;     // X transposed
    mutable std::vector<double> g_;                     // (k padded, pairs)
    mutable std::vector<double> g_squares_;             // (k, pairs): |g|^2 so far
    mutable std::vector<double> reach_, plain_;         // (k): |v|^2 and |v_1|^2 so far
    mutable std::vector<double> roots_;                 // (k): roots of K's diagonal
    mutable std::vector<Prefix> at_ends_, at_stops_;
};

// Interval-valued decision functions from a few kernel values (DeCoste, "Anytime Interval-Valued Outputs for Kernel
// Machines"). With coordinates y of a row and g of w in the span of some points (PointSpan):
//
//     f(z) = g.y - rho  +-  |w_perp| sqrt(K(z, z) - |y|^2).
//
// The interval is the paper's (eqs. 13, 14, 31) or narrower: its sphere is about the points' affine hull, which the
// span contains. Proof with rounding: B8 to B16 of PROOFS.md, same names.
class Geometry : public EarlyStop {
public:
    // points: (k) rows. b: (k, pairs), <w, phi(S_i)> = f(S_i) + rho, each within b_error (pairs). squared_norm:
    // (pairs), at least |w|^2.
    Geometry(SvmModel model, std::shared_ptr<const Rows> points, std::vector<double> b,
             std::vector<double> squared_norm, std::vector<double> b_error);

    Geometry(const Geometry&) = delete;
    ~Geometry() override;

    // Rows meet points until decided; they are checked at first_stops_ (if pairs are few), then after every `panel`
    // points. With `steps`: first after min(steps, panel) points, last after `steps`. Returns the undecided rows,
    // increasing; values and radii are the last ones.
    std::vector<std::int64_t> decision_values(const Rows& rows, const Task& task, double tolerance, std::int64_t steps,
                                              Decisions& out) const override;

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

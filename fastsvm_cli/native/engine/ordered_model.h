// Ordered models: the exact model's support vectors, in an order that lets a row stop once the rest cannot change its
// answer. Other rows are evaluated exactly.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exact_model.h"
#include "engine/model.h"
#include "models/geometry.h"
#include "models/triangle.h"

namespace fastsvm {

// Evaluation counts include repeated kernel evaluations: undecided rows are evaluated again in full and, if rounding
// leaves them open, in LIBSVM's order of operations.
class OrderedModel : public Model {
public:
    explicit OrderedModel(std::shared_ptr<const ExactModel> exact);
    void decision_values(const Rows& rows, const Precision& precision, Decisions& out) const override;
    void reference_values(const Rows& rows, Decisions& out) const override;

    // Fills values and radii of decided rows (regression: within `tolerance`), and counts evaluations. steps: as in
    // Geometry. Returns the undecided rows, increasing.
    virtual std::vector<std::int64_t> decide(const Rows& rows, const Task& of, double tolerance, std::int64_t steps,
                                             Decisions& out) const = 0;

private:
    void exact_values(const Rows& rows, const Precision& precision, Decisions& out) const;
    const std::shared_ptr<const ExactModel> exact_;
};

class TriangleModel : public OrderedModel {
public:
    TriangleModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const Triangle> lists)
        : OrderedModel(std::move(exact)), lists_(std::move(lists)) {}
    std::vector<std::int64_t> decide(const Rows& rows, const Task& of, double tolerance, std::int64_t,
                                     Decisions& out) const override {
        return lists_->decision_values(rows, of, tolerance, out);
    }

private:
    const std::shared_ptr<const Triangle> lists_;
};

class GeometryModel : public OrderedModel {
public:
    GeometryModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const Geometry> points)
        : OrderedModel(std::move(exact)), points_(std::move(points)) {}
    std::shared_ptr<Model> stopped_after(std::int64_t steps) const;
    std::vector<std::int64_t> decide(const Rows& rows, const Task& of, double tolerance, std::int64_t steps,
                                     Decisions& out) const override {
        return points_->decision_values(rows, of, tolerance, steps, out);
    }

private:
    const std::shared_ptr<const Geometry> points_;
};

// A geometry model of `steps` points: interval midpoints as values, half widths as radii. Open labels may differ from
// svm-predict's.
class StoppedGeometry : public Model {
public:
    StoppedGeometry(Header header, std::shared_ptr<const Geometry> points, std::int64_t steps)
        : Model(std::move(header)), points_(std::move(points)), steps_(steps) {
        certified = ordered = true;
    }
    void decision_values(const Rows& rows, const Precision&, Decisions& out) const override {
        points_->decision_values(rows, task, 0, steps_, out);
    }

private:
    const std::shared_ptr<const Geometry> points_;
    const std::int64_t steps_;
};

}  // namespace fastsvm

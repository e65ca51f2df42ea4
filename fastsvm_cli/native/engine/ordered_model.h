// Ordered models: all the support vectors of the exact model, evaluated in an order that lets a row stop as soon as
// what is left of its sum cannot change the answer; rows that never stop are evaluated exactly.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exact_model.h"
#include "engine/model.h"
#include "models/geometry.h"
#include "models/triangle.h"

namespace fastsvm {

// Kernel evaluations are counted as often as they are done: a row that is not settled is then evaluated in full, which
// computes the kernel values of its first vectors once more, and where rounding leaves even that open, once again in
// LIBSVM's own order of operations.
class OrderedModel : public Model {
public:
    explicit OrderedModel(std::shared_ptr<const ExactModel> exact);
    void decision_values(const Rows& rows, const Wanted& wanted, Decisions& out) const override;
    void reference_values(const Rows& rows, Decisions& out) const override;

protected:
    // Fills `out` with values and radii, each row's as soon as its answer is settled (of a regression model: its value,
    // to within `tolerance`), and counts evaluations. Returns the rows that are not settled, increasing.
    virtual std::vector<std::int64_t> settle(const Rows& rows, double tolerance, Decisions& out) const = 0;

private:
    void exact_values(const Rows& rows, const Wanted& wanted, Decisions& out) const;
    const std::shared_ptr<const ExactModel> exact_;
};

class TriangleModel : public OrderedModel {
public:
    TriangleModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const Triangle> lists)
        : OrderedModel(std::move(exact)), lists_(std::move(lists)) {}

private:
    std::vector<std::int64_t> settle(const Rows& rows, double tolerance, Decisions& out) const override {
        return lists_->decision_values(rows, task, tolerance, out);
    }
    const std::shared_ptr<const Triangle> lists_;
};

class GeometryModel : public OrderedModel {
public:
    GeometryModel(std::shared_ptr<const ExactModel> exact, std::shared_ptr<const Geometry> points)
        : OrderedModel(std::move(exact)), points_(std::move(points)) {}

private:
    std::vector<std::int64_t> settle(const Rows& rows, double tolerance, Decisions& out) const override {
        return points_->decision_values(rows, task, tolerance, 0, out);
    }
    const std::shared_ptr<const Geometry> points_;
};

// A geometry model that answers from its first `steps` points alone: the middle of every interval is the value, half of
// its width the radius, and a label that it leaves open need not be svm-predict's.
class StoppedGeometry : public Model {
public:
    StoppedGeometry(Header header, std::shared_ptr<const Geometry> points, std::int64_t steps)
        : Model(std::move(header)), points_(std::move(points)), steps_(steps) {
        certified = ordered = true;
    }
    void decision_values(const Rows& rows, const Wanted&, Decisions& out) const override {
        points_->decision_values(rows, task, 0, steps_, out);
    }

private:
    const std::shared_ptr<const Geometry> points_;
    const std::int64_t steps_;
};

}  // namespace fastsvm

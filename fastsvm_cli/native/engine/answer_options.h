// Answer options: all that output lines depend on, such as the model, the exact model and the numbers to print.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/predictions.h"
#include "engine/model.h"
#include "engine/precision.h"

namespace fastsvm {

// The exact model for rows that a certified model leaves undecided. Thread-safe.
class Fallback {
public:
    using Load = std::function<std::shared_ptr<const Model>()>;
    // load: called on first need, on any thread. tolerance: allowed radius of a regression value.
    Fallback(Load load, double tolerance) : tolerance(tolerance), load_(std::move(load)) {}
    const double tolerance;
    // Loads once. If `load` throws, rethrows; the next call tries again.
    const std::shared_ptr<const Model>& model() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!model_) model_ = load_();
        return model_;
    }

private:
    const Load load_;
    std::mutex mutex_;
    std::shared_ptr<const Model> model_;
};

// A random sample of the rows, to which the exact model gives a label too.
class Audit : public Fallback {
public:
    // share: of the rows; 0 to 1.
    Audit(Load load, double share, std::uint64_t seed) : Fallback(std::move(load), 0), share_(share), seed_(seed) {}
    // The sampled rows, increasing. A row's line number decides, so that blocks and threads change nothing.
    std::vector<std::int64_t> sampled(const Rows& rows) const;

private:
    const double share_;
    const std::uint64_t seed_;
};

// Everything that output lines depend on.
struct AnswerOptions {
    std::shared_ptr<const Model> model;
    bool probability = false;         // as svm-predict's -b 1
    bool values = false;              // append decision values, and radii if the model has them
    bool evaluations = false;         // append the number of kernel evaluations; ordered models only
    std::shared_ptr<Fallback> exact;  // or null
    std::shared_ptr<Audit> audit;     // or null; changes no line
    // Allowed error of an ordered regression model's values, which may then stop early.
    std::optional<double> tolerance;
    // Report open rows, and rows outside the bound (Decisions::outside). open_tolerance: allowed radius of a regression
    // value without `exact`.
    bool open_rows = false, outside_rows = false;
    double open_tolerance = 0;
    bool around = false;      // skip rows that cannot be evaluated
    bool may_be_few = false;  // use Model::too_few
    // Rows with features beyond this one are counted.
    std::int32_t largest_feature = std::numeric_limits<std::int32_t>::max();
};

// Answer options, and values derived from it.
struct ResolvedOptions : AnswerOptions {
    explicit ResolvedOptions(AnswerOptions answer_options);

    // The model whose answers are printed: the exact one if a reduced set's probabilities were refitted.
    std::shared_ptr<const Model> printed;
    // Values with more rounding than this, in raw labels, are evaluated again.
    std::optional<double> answer_within;
    bool with_radius;
    bool elects;            // open rows need only the exact model's label
    bool stopped;           // the model stops every row early
    double decided_within;  // allowed radius of a regression value, beyond which its row is open
    Precision precision;    // that the model's decision values must have

    const Task& task() const { return printed->task; }
    // The line before the first row; or empty.
    std::string head() const;
    // Number of values in an output line.
    std::int64_t columns() const;
};

}  // namespace fastsvm

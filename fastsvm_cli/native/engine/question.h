// What is asked of every row.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "answers/predictions.h"
#include "engine/model.h"
#include "engine/wanted.h"

namespace fastsvm {

// The exact model of a certified one, which evaluates the rows that the radii leave open.
class Fallback {
public:
    using Load = std::function<std::shared_ptr<const Model>()>;
    // load: reads it; called when the first row needs it, on any thread. tolerance: the radius that a regression value
    // may keep.
    Fallback(Load load, double tolerance) : tolerance(tolerance), load_(std::move(load)) {}
    const double tolerance;
    // Read once. Throws what `load` throws, and may be asked again then.
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

// All that the output lines depend on.
struct Question {
    std::shared_ptr<const Model> model;
    bool probability = false;         // as svm-predict's -b 1
    bool values = false;              // append decision values, and radii where the model has them
    bool evaluations = false;         // append the number of kernel evaluations, of an ordered model
    std::shared_ptr<Fallback> exact;  // or null
    // What a value of an ordered regression model may be off by, so that it can stop early.
    std::optional<double> tolerance;
    // Whether the rows that the radii leave open, and those outside the bound of Claesen et al., eq. (3.11), are asked
    // for; the radius that a regression value may have where there is no `exact`.
    bool open_rows = false, outside_rows = false;
    double open_tolerance = 0;
    bool around = false;      // go on after rows that cannot be evaluated
    bool may_be_few = false;  // the first rows may be all: see Model::too_few
};

// A question, and what follows from it.
struct Request : Question {
    explicit Request(Question question);

    // The model whose answers are printed: the exact one, where a reduced set's probabilities were fitted anew.
    std::shared_ptr<const Model> printed;
    // An ordered model's answer in raw labels that is further off, by rounding, is evaluated again.
    std::optional<double> answer_within;
    bool with_radius;
    bool elects;   // of the rows left open only the exact model's label is wanted
    bool stopped;  // of a model that stops every row early
    double settled_within;
    Wanted wanted;

    const Task& task() const { return printed->task; }
    // The line before the first row, or nothing.
    std::string head() const;
    // Numbers in an output line.
    std::int64_t columns() const;
};

}  // namespace fastsvm

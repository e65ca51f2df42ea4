// Answer options, from rows to answers, and the predictor.
#pragma once
#include <algorithm>
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
#include "engine/line_blocks.h"
#include "engine/model.h"
#include "simd/parallel.h"
#include "text/rows.h"

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

// Maximum number of decision values in memory at once: a megabyte of short rows with 300 classes would need 20 GB.
constexpr std::int64_t most_values = std::int64_t{1} << 19;

// Counts over the rows of a chunk or of a run.
struct RowCounts {
    // outside: rows outside the bound; evaluated: by the exact model; undecided: left undecided by the radii, if
    // counted.
    std::int64_t outside = 0, evaluated = 0, reference_rows = 0, kernel_evaluations = 0, undecided = 0;
    std::int64_t audited = 0, audit_differing = 0;  // sampled rows; of these, with another label than the exact model's
    LevelRows level_rows{};                         // rows decided per level; the reference sum's are in reference_rows
};

// A worker's results for a chunk: lines, predictions, open and bad rows, and counts.
struct Answer : RowCounts {
    // Empties it for the next chunk, without freeing the memory.
    void clear();

    std::shared_ptr<const Rows> rows;  // evaluated rows
    std::vector<RowProblem> bad;       // the others, if the run skips them
    std::optional<RowProblem> error;   // first row that cannot be evaluated; ends the run
    std::string lines;
    Predictions predictions;
    std::vector<std::int64_t> open_rows, outside_rows;  // indices in `rows`, if requested
};

class Predictor;

// Answers chunks, one at a time, in memory that it reuses. Each thread leases a worker of its own (Predictor::worker).
class Worker {
public:
    // resolved: must outlive this.
    explicit Worker(const ResolvedOptions& resolved);

    // Whether the rows' decision values fit in most_values.
    bool fits_in_memory(const Rows& rows) const;
    // Evaluates the rows and formats their lines. Requires fits_in_memory(rows).
    Answer answer(std::shared_ptr<const Rows> rows);
    // As answer(), without lines. decisions() is valid until the next chunk.
    void predictions(std::shared_ptr<const Rows> rows, Answer& out);
    // Calls visit(Answer&&) for each part of the rows that fits.
    template <class Visit> void answers(const std::shared_ptr<const Rows>& rows, Visit visit) {
        if (fits_in_memory(*rows)) return visit(answer(rows));
        const std::int64_t most = std::max<std::int64_t>(1, most_values / std::max<std::int64_t>(pairs(), 1));
        for (std::int64_t first = 0; first < rows->rows; first += most)
            visit(answer(std::make_shared<const Rows>(slice_rows(*rows, first, std::min(first + most, rows->rows)))));
    }

    Decisions& decisions() { return decisions_; }
    const ResolvedOptions& resolved;

private:
    std::int64_t pairs() const { return resolved.model->pairs(); }
    void evaluate(const Rows& rows);
    std::shared_ptr<const Rows> evaluable(const std::shared_ptr<const Rows>& rows, std::vector<RowProblem>& bad);
    std::optional<Predictions> ask_exact(Answer& answer);
    void audit(Answer& answer);

    Decisions decisions_, again_;
    bool few_ = false;                        // decisions_ come from reference_values
    std::shared_ptr<const Predictor> exact_;  // of ResolvedOptions::audit, made on first need
};

// A model with its options, for any number of threads. Each leases a Worker, whose memory later leases reuse.
class Predictor {
public:
    explicit Predictor(AnswerOptions answer_options) : resolved(std::move(answer_options)) {}
    Predictor(const Predictor&) = delete;

    const ResolvedOptions resolved;
    // No other thread uses it during the lease, which this must outlive.
    Pool<Worker>::Lease worker() const {
        return workers_.lease([this] { return std::make_unique<Worker>(resolved); });
    }

private:
    const Pool<Worker> workers_;
};

}  // namespace fastsvm

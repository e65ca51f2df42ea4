// The predictor: a model with its answer options, and a pool of workers.
#pragma once
#include <memory>
#include <utility>

#include "engine/answer_options.h"
#include "engine/answers.h"
#include "simd/pool.h"

namespace fastsvm {

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

#pragma once
#include <memory>
#include <utility>

#include "engine/answers.h"
#include "engine/question.h"
#include "simd/pool.h"

namespace fastsvm {

// A model with its options, for any number of threads. Each leases an Answerer, whose memory later leases reuse.
class Predictor {
public:
    explicit Predictor(Question question) : request(std::move(question)) {}
    Predictor(const Predictor&) = delete;

    const Request request;
    // No other thread uses it during the lease, which this must outlive.
    Pool<Answerer>::Lease answerer() const {
        return answerers_.lease([this] { return std::make_unique<Answerer>(request); });
    }

private:
    const Pool<Answerer> answerers_;
};

}  // namespace fastsvm

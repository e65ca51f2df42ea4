#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "answers/decisions.h"
#include "exact/kernel_tiles.h"
#include "exact/label_sums.h"
#include "exact/rounding.h"
#include "exact/svm_model.h"
#include "simd/pool.h"
#include "text/features.h"

namespace fastsvm {

// The rungs below double precision: whole numbers if on one grid, then single precision. Each is used if it saves time,
// by rung_costs.h and the share of the model's vectors that a trial leaves open.
class Ladder {
public:
    // model and rounding must outlive this. in_strips: whether double precision uses strips.
    Ladder(const SvmModel& model, const Rounding& rounding, const Features& features, bool in_strips);
    // As LabelSums::settle; counts rows by rung in `settled`.
    void settle(const Rows& rows, std::vector<std::int64_t>& open, std::int32_t* winner, RungRows& settled) const;
    // Estimated nanoseconds per kernel value, for labels alone of rows like the vectors.
    double cost() const;

private:
    struct Climb {
        std::vector<std::int64_t> too_near, climbing;
    };
    double double_cost(const Features& features, bool in_strips) const;
    double left_open(const KernelTiles& tiles) const;
    double left_by_single() const;

    const SvmModel& model_;
    std::optional<LabelSums> sums_;  // empty: no rungs
    std::unique_ptr<KernelTiles> grid_;
    double single_ns_ = 0, double_ns_ = 0, grid_ns_ = 0;  // per kernel value
    // Built on first use: few rows climb to it from a grid.
    mutable std::once_flag single_made_;
    mutable std::unique_ptr<const KernelTiles> single_;  // null if it does not pay
    mutable double left_by_single_ = 1;                  // share of sampled support vectors
    Pool<Climb> climbs_;
};

}  // namespace fastsvm

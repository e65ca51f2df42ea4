// The rungs of the exact evaluation below double precision: which of them pay for a model, and rows that climb them.
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

// Whole numbers where the vectors are on one grid, then single precision: each where that costs less, by the costs of
// kernel values (rung_costs.h) and the share of the model's own vectors that a trial leaves open.
class Ladder {
public:
    // model, rounding: must outlive this. features: of the model. in_strips: in double precision the vectors are in
    // strips, and not in lists by column.
    Ladder(const SvmModel& model, const Rounding& rounding, const Features& features, bool in_strips);
    // winner[row] for every row that is settled, as Decisions::winner has it; `open` keeps the others. settled: counts
    // them, by rung.
    void settle(const Rows& rows, std::vector<std::int64_t>& open, std::int32_t* winner, RungRows& settled) const;

private:
    struct Climb {
        std::vector<std::int64_t> too_near, climbing;
    };
    double double_cost(const Features& features, bool in_strips) const;
    double left_open(const KernelTiles& tiles) const;
    double left_by_single() const;

    const SvmModel& model_;
    std::optional<LabelSums> sums_;  // without it there are no rungs
    std::unique_ptr<KernelTiles> grid_;
    double single_ns_ = 0, double_ns_ = 0;  // of a kernel value
    // Laid out when a row climbs to it: of a model on a grid few rows do.
    mutable std::once_flag single_made_;
    mutable std::unique_ptr<const KernelTiles> single_;  // null where it does not pay
    mutable double left_by_single_ = 1;                  // share of the model's own vectors
    Pool<Climb> climbs_;
};

}  // namespace fastsvm

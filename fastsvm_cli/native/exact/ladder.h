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
#include "text/features.h"

namespace fastsvm {

// Whole numbers where the vectors are on one grid, then single precision: each where a kernel value is estimated to
// cost less than by the lists by column, and where a trial on the model's own vectors leaves few of them open.
class Ladder {
public:
    // model, rounding: must outlive this. features: of the model. in_strips: double precision has no lists by column,
    // which would be cheaper than any rung of a sparse model.
    Ladder(const SvmModel& model, const Rounding& rounding, const Features& features, bool in_strips);
    // winner[row] for every row that is settled, as Decisions::winner has it; `open` keeps the others. settled: counts
    // them, by rung.
    void settle(const Rows& rows, std::vector<std::int64_t>& open, std::int32_t* winner, RungRows& settled) const;

private:
    double list_cost(const Features& features) const;
    double left_open(const KernelTiles& tiles) const;
    double left_by_single() const;

    const SvmModel& model_;
    std::optional<LabelSums> sums_;  // without it there are no rungs
    std::unique_ptr<KernelTiles> grid_;
    bool single_cheaper_ = false;  // than the lists
    // Laid out when a row climbs to it: of a model on a grid few rows do.
    mutable std::once_flag single_made_;
    mutable std::unique_ptr<const KernelTiles> single_;  // null where it does not pay
    mutable double left_by_single_ = 1;                  // share of the model's own vectors
};

}  // namespace fastsvm

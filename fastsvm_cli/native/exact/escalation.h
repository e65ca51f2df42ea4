// Escalation: labels of an exact model by the levels below double precision.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "answers/decisions.h"
#include "exact/labels/kernel_tiles.h"
#include "exact/labels/label_sums.h"
#include "exact/reference/rounding.h"
#include "exact/reference/svm_model.h"
#include "simd/pool.h"
#include "text/features.h"

namespace fastsvm {

// The levels below double precision: whole numbers if on one grid, then single precision. Each is used if it saves
// time, by level_costs.h and the share of the model's vectors that a trial leaves undecided.
class Escalation {
public:
    // model and rounding must outlive this. in_panels: whether double precision uses panels.
    Escalation(const SvmModel& model, const Rounding& rounding, const Features& features, bool in_panels);
    // As LabelSums::decide_labels; counts rows by level in `decided`.
    void decide_labels(const Rows& rows, std::vector<std::int64_t>& undecided, std::int32_t* winner, LevelRows& decided,
                       bool likely = false) const;

private:
    struct Scratch {
        std::vector<std::int64_t> too_near, escalating;
    };
    double double_cost(const Features& features, bool in_panels) const;
    double left_undecided(const KernelTiles& tiles) const;
    double left_by_single() const;

    const SvmModel& model_;
    std::optional<LabelSums> sums_;  // empty: no levels
    std::unique_ptr<KernelTiles> grid_;
    double single_ns_ = 0, double_ns_ = 0;  // per kernel value
    // Built on first use: few rows escalate to it from a grid.
    mutable std::once_flag single_made_;
    mutable std::unique_ptr<const KernelTiles> single_;  // null if it does not pay
    mutable double left_by_single_ = 1;                  // share of sampled support vectors
    Pool<Scratch> scratch_;
};

}  // namespace fastsvm

// Decision values at the model's own support vectors (Exact::own_values). Every two of them are evaluated once, for
// both.
#include <algorithm>
#include <stdexcept>

#include "exact/exact.h"
#include "exact/exact_block.h"
#include "simd/aligned.h"
#include "simd/loops.h"

namespace fastsvm {

namespace {
// Support vectors per block, in whole panels.
constexpr std::int64_t own_block = 512;
}  // namespace

// (padded): terms with the vector as row, and as column.
struct Exact::OwnSums {
    Aligned<double> of_rows, of_columns;
};

// Adds kernel values of two blocks for both; of a block with itself, for its rows.
void Exact::meet(std::int64_t of_rows, std::int64_t of_columns, Block& block, OwnSums& sums) const {
    const Loops& k = loops();
    const Panels& panels = *layout().panels;
    const double* const coef = layout().coef.data();
    const std::int64_t tile = vectors_per_tile(features_.size());
    const std::int64_t first = of_columns * own_block, last = std::min(padded_, first + own_block);
    const std::int64_t end = std::min(padded_, (of_rows + 1) * own_block);
    std::vector<std::int64_t>& positions = block.undecided;  // of the current rows
    std::vector<std::int64_t>& which = block.undecided_now;
    block.kernel_values.resize(static_cast<std::size_t>(block_rows * tile));
    for (std::int64_t at = of_rows * own_block; at < end;) {
        positions.clear();
        which.clear();
        for (; at < end && static_cast<std::int64_t>(positions.size()) < block_rows; ++at)
            if (order_[at] >= 0) positions.push_back(at), which.push_back(order_[at]);
        const std::int64_t n = static_cast<std::int64_t>(positions.size());
        panels.take(*model_.vectors, which.data(), n, block.rows);
        for (std::int64_t from = first; from < last; from += tile) {
            const std::int64_t to = std::min(last, from + tile);
            panels.row_panel_kernel_values(block.rows, from, to, block.kernel_values.data(), tile);
            for (std::int64_t r : block.rows.by_entry)
                panels.kernel_values(block.rows.rows[r], from, to, block.kernel_values.data() + r * tile,
                                     block.scratch);
            for (std::int64_t r = 0; r < n; ++r) {
                const double* const values = block.kernel_values.data() + r * tile;
                sums.of_rows[positions[r]] += k.dot(to - from, coef + from, values);
                if (of_rows != of_columns)
                    k.add_scaled(to - from, coef[positions[r]], values, sums.of_columns.data() + from);
            }
        }
    }
}

void Exact::own_values(const std::function<void(double)>& progress, Decisions& out) const {
    if (!meets_itself()) throw std::logic_error("no model that meets itself");
    const Rows& sv = *model_.vectors;
    out.resize(sv.rows);
    OwnSums sums{Aligned<double>(static_cast<std::size_t>(padded_), 0.0),
                 Aligned<double>(static_cast<std::size_t>(padded_), 0.0)};
    // In a round each block meets one other: no two threads add to the same sum, and terms follow the order of rounds.
    const std::int64_t blocks = (padded_ + own_block - 1) / own_block;
    std::int64_t met = 0;
    for (std::int64_t apart = 0; blocks && 2 * apart <= blocks; ++apart) {
        const std::int64_t meetings = 2 * apart == blocks && apart ? apart : blocks;
        parallel_workers(meetings, 1, [&](Parts& parts) {
            const auto leased = this->block();
            Block& block = *leased;
            for (std::int64_t b, stop; parts.next(b, stop);) meet(b, (b + apart) % blocks, block, sums);
        });
        met += 2 * meetings;
        progress(static_cast<double>(met) / static_cast<double>(blocks * (blocks + 1)));
    }
    for (std::int64_t s = 0; s < padded_; ++s) {
        const std::int64_t i = order_[s];
        if (i < 0) continue;
        out.value[i] = sums.of_rows[s] + sums.of_columns[s] - model_.rho[0];
        if (out.with_radius) out.radius[i] = rounding_->radius(0, rounding_->row(sv, i, false), out.value[i]);
    }
}

}  // namespace fastsvm

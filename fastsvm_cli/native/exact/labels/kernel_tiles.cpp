#include "exact/labels/kernel_tiles.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "exact/reference/rounding.h"
#include "exact/values/panels.h"
#include "simd/loops.h"

namespace fastsvm {

namespace {
// Columns of a panel in a first-level cache.
constexpr std::int64_t columns_at_a_time = column_bytes / (panel * static_cast<std::int64_t>(sizeof(float)));
constexpr double log2_e = 1.4426950408889634, ln_2 = 0.6931471805599453;
}  // namespace

struct SingleTiles::Taken final : KernelTiles::Block {
    std::int64_t rows = 0;
    PanelMatrix<float, row_panel> row_panels;  // (rows, columns)
    Aligned<float> norms;                      // (panels * row_panel)
    Aligned<double> spread;                    // (columns): a row with gaps; zeros between rows
    std::vector<double> relative_errors;       // (rows)
};

bool SingleTiles::holds(const SvmModel& model) {
    const double gamma = model.kernel.gamma;
    return model.kernel.type == KernelType::rbf && model.vectors->rows > 0 && gamma > 1e-100 && gamma < 1e100;
}

SingleTiles::SingleTiles(const SvmModel& model, const std::vector<std::int64_t>& order)
    : factor_(std::sqrt(model.kernel.gamma * log2_e)), features_(used_indices(*model.vectors)) {
    const Rows& sv = *model.vectors;
    const std::int64_t d = features_.size(), padded = static_cast<std::int64_t>(order.size());
    columns_ = d;
    // Several blocks are shorter: less rounding leaves fewer rows undecided.
    const std::int64_t longest = d <= columns_at_a_time ? columns_at_a_time : columns_at_a_time / 2;
    column_blocks_ = std::max<std::int64_t>((d + longest - 1) / longest, 1);
    column_block_ = std::max<std::int64_t>((d + column_blocks_ - 1) / column_blocks_, 1);
    vectors_used_ = padded;
    while (vectors_used_ > 0 && order[static_cast<std::size_t>(vectors_used_ - 1)] < 0) --vectors_used_;

    std::vector<double> mean(static_cast<std::size_t>(d), 0.0), energy(static_cast<std::size_t>(d), 0.0);
    for (std::int64_t e = 0; e < sv.indices.size(); ++e) {
        const std::int32_t column = features_.column(sv.indices[e]);
        mean[column] += sv.values[e];
        energy[column] += sv.values[e] * sv.values[e];
    }
    const double n = static_cast<double>(sv.rows);
    for (std::int64_t c = 0; c < d; ++c) {
        mean[c] /= n;
        energy[c] = energy[c] / n - mean[c] * mean[c];
    }
    std::vector<std::int64_t> by_energy(static_cast<std::size_t>(d));
    std::iota(by_energy.begin(), by_energy.end(), 0);
    std::stable_sort(by_energy.begin(), by_energy.end(),
                     [&](std::int64_t a, std::int64_t b) { return energy[a] < energy[b]; });
    place_.resize(static_cast<std::size_t>(d));
    center_.assign(static_cast<std::size_t>(d), 0.0);
    weights_.assign(static_cast<std::size_t>(d), 0.0);
    for (std::int64_t at = 0; at < d; ++at) {
        const std::int64_t c = by_energy[at];
        place_[c] = static_cast<std::int32_t>(at * row_panel);
        center_[c] = mean[c];
        const std::int64_t own = at / column_block_, left = std::min(d, (own + 1) * column_block_) - at;
        weights_[c] = static_cast<double>(1 + left + column_blocks_ - std::max<std::int64_t>(own, 1));
    }

    vectors_.assign(padded, columns_);
    norms_.assign(static_cast<std::size_t>(padded), 0.0F);
    Aligned<double> spread(static_cast<std::size_t>(d), 0.0);
    std::vector<float> centered(static_cast<std::size_t>(d * row_panel));
    for (std::int64_t s = 0; s < padded; ++s) {
        if (order[s] < 0) continue;
        double sums[3];
        center(sv, order[s], spread, centered.data(), sums);
        float* const to = vectors_.at(s, 0);
        for (std::int64_t c = 0; c < columns_; ++c) to[c * panel] = centered[c * row_panel];
        norms_[s] = static_cast<float>(sums[0]);
        longest_ = std::max(longest_, sums[0]);
        weighted_ = std::max(weighted_, sums[1]);
        lost_ = std::max(lost_, sums[2]);
    }
    const double rounding = 1 + 1e-15 * static_cast<double>(d + 8);
    longest_ = std::sqrt(longest_ * rounding) * up;
    weighted_ = std::sqrt(weighted_ * rounding) * up;
    lost_ = std::sqrt(lost_ * rounding) * up;
}

// Writes a row as loops().products->center does. Returns the scaled squares of the entries that no vector has. spread:
// zeros before and after.
double SingleTiles::center(const Rows& rows, std::int64_t row, Aligned<double>& spread, float* out,
                           double* sums) const {
    const std::int64_t begin = rows.begin(row), end = rows.end(row);
    const std::int32_t* const index = rows.indices.data();
    const double* const value = rows.values.data();
    const double* z = spread.data();
    double outside = 0;
    const auto leave_out = [&](std::int64_t e) { outside += value[e] * value[e] * (factor_ * factor_); };
    const std::vector<std::int32_t>& known = features_.indices();
    const bool whole = features_.consecutive() && rows.consecutive(row) && index[begin] <= known.front() &&
                       index[end - 1] >= known.back();
    if (whole) {  // no copy
        const std::int64_t first = begin + (known.front() - index[begin]);
        z = value + first;
        for (std::int64_t e = begin; e < first; ++e) leave_out(e);
        for (std::int64_t e = first + columns_; e < end; ++e) leave_out(e);
    }
    for (std::int64_t e = begin; !whole && e < end; ++e) {
        const std::int32_t column = features_.column(index[e]);
        if (column >= 0)
            spread[column] = value[e];
        else
            leave_out(e);
    }
    loops().products->center(columns_, factor_, z, center_.data(), weights_.data(), place_.data(), out, sums);
    for (std::int64_t e = begin; !whole && e < end; ++e) {
        const std::int32_t column = features_.column(index[e]);
        if (column >= 0) spread[column] = 0;
    }
    return outside;
}

// B22 and B24, from sums as computed. outside: squares of entries that no vector has; count: the row's entries.
double SingleTiles::relative_error(double squares, double weighted, double lost, double outside, double count) const {
    const double x = longest_, columns = static_cast<double>(columns_);
    if (!(squares < 1e30 && outside < 1e30 && x < 1e15)) return infinite;
    const double rounding = 1 + 1e-15 * (columns + count + 8);
    const double z = std::sqrt(squares * rounding) * up, size = x + z;
    const double off = std::sqrt(lost * rounding) * up + lost_ + 2.3e-16 * size;
    const double moved = off * (2 * size + off);
    const double norms = x * x + z * z + outside * rounding, distance = size * size + outside * rounding;
    const double most = static_cast<double>(column_block_ + column_blocks_ + 2) * single_unit;
    if (!(most < 0.01)) return infinite;
    const double dot = single_unit / (1 - most) * weighted_ * std::sqrt(weighted * rounding) * up;
    // Errors of double precision, and of second order.
    const double more = 1.00001 + 4e-9 * (columns + count);
    const double delta =
        moved + more * single_unit * (2 * norms + distance + 2 * dot) + 2 * dot + (columns + 8) * 0x1p-146;
    if (!(delta < 0.25)) return infinite;
    // e^t - 1 for t < 0.18: terms after t^4 / 24 are below 0.04 of it.
    const double t = ln_2 * up * delta + 1e-13, grown = t * (1 + t / 2 * (1 + t / 3 * (1 + t / 4 * 1.05)));
    return (grown + 2.3 * single_unit * (1 + grown)) * up;
}

std::unique_ptr<KernelTiles::Block> SingleTiles::block() const { return std::make_unique<Taken>(); }

void SingleTiles::take(const Rows& rows, const std::int64_t* which, std::int64_t n, Block& block) const {
    Taken& out = static_cast<Taken&>(block);
    out.rows = n;
    out.row_panels.resize(n, columns_);
    out.norms.resize(static_cast<std::size_t>(whole(n, row_panel)));
    out.relative_errors.resize(static_cast<std::size_t>(n));
    out.spread.resize(static_cast<std::size_t>(columns_), 0.0);
    for (std::int64_t r = 0; r < n; ++r) {
        double sums[3];
        float* const to = out.row_panels.at(r, 0);
        const double outside = center(rows, which[r], out.spread, to, sums);
        // Must not overflow; rows with such numbers have no error bound.
        out.norms[r] = static_cast<float>(std::min(sums[0] + outside, 1e38));
        out.relative_errors[r] = relative_error(sums[0], sums[1], sums[2], outside,
                                                static_cast<double>(rows.end(which[r]) - rows.begin(which[r])));
    }
}

double SingleTiles::relative_error(const Block& block, std::int64_t r) const {
    return static_cast<const Taken&>(block).relative_errors[static_cast<std::size_t>(r)];
}

void SingleTiles::values(const Block& block, std::int64_t from, std::int64_t to, float* out,
                         std::int64_t stride) const {
    const Taken& rows = static_cast<const Taken&>(block);
    for (std::int64_t s = from; s < to; s += panel) {
        const std::int64_t vectors = std::clamp<std::int64_t>(vectors_used_ - s, 0, panel);
        for (std::int64_t c = 0; c == 0 || c < columns_; c += column_block_) {
            const float* const x = vectors_.at(s, c);
            const std::int64_t columns = std::min(column_block_, columns_ - c);
            for (std::int64_t r = 0; r < rows.rows; r += row_panel) {
                const std::int64_t now = std::min<std::int64_t>(row_panel, rows.rows - r);
                loops().tiles->single_powers(static_cast<int>(now), vectors, columns, c == 0,
                                             c + column_block_ >= columns_, rows.row_panels.at(r, c),
                                             rows.norms.data() + r, x, norms_.data() + s, out + r * stride + (s - from),
                                             stride);
            }
        }
        for (std::int64_t r = 0; vectors < panel && r < rows.rows; ++r)
            std::fill_n(out + r * stride + (s - from) + vectors, panel - vectors, 0.0F);
    }
}

void SingleTiles::add_sums(const Block& block, std::int64_t n, std::int64_t from, std::int64_t to, const float* coef,
                           Aligned<float>& scratch, double* sums) const {
    if (column_blocks_ > 1) return KernelTiles::add_sums(block, n, from, to, coef, scratch, sums);
    const Taken& rows = static_cast<const Taken&>(block);
    const std::int64_t together = columns_at_a_time / std::max<std::int64_t>(columns_, 1) * panel;
    for (std::int64_t s = from; s < to; s += together)
        for (std::int64_t r = 0; r < n; r += row_panel)
            loops().tiles->single_sums(static_cast<int>(std::min<std::int64_t>(row_panel, n - r)),
                                       std::min(together, to - s) / panel, columns_, rows.row_panels.at(r, 0),
                                       rows.norms.data() + r, vectors_.at(s, 0), norms_.data() + s, coef + (s - from),
                                       sums + r * lanes);
}

}  // namespace fastsvm

#include "exact/values/panels.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "simd/parallel.h"

namespace fastsvm {

namespace {

constexpr std::int64_t pass_rows = 16 * row_panel;  // rows that pass over vectors together
// Multiply-adds that repay a thread; overhead of a kernel value.
constexpr std::int64_t thread_work = 1 << 22, value_work = 24;
// Fewer rows do not repay panels of their own.
constexpr std::int64_t least_rows = lanes;
// Cost in columns of a tile: a row's entry; a vector's entry, looked up per panel.
constexpr double row_entry_cost = 2, vector_entry_cost = 3;
constexpr std::int64_t most_parts = 64, most_part_numbers = 1 << 22;

}  // namespace

struct KernelMatrix::Block {
    std::int64_t count = 0;
    PreparedRows by_row;
    std::optional<Panels> panels;  // of the rows
};

KernelMatrix::KernelMatrix(const Kernel& kernel, std::shared_ptr<const Rows> vectors)
    : kernel_(kernel), size_(vectors->rows), features_(used_indices(*vectors)), vectors_(std::move(vectors)) {
    if (kernel.type == KernelType::precomputed) throw std::invalid_argument("a precomputed kernel has no vectors");
    if (dense(*vectors_, features_.size()) || kernel.by_differences() || kernel.normalized())
        panels_.emplace(kernel, *vectors_, in_order(size_));
    else
        lists_.emplace(kernel, *vectors_, features_, in_order(size_));
}

std::vector<double> KernelMatrix::diagonal() const {
    std::vector<double> out(static_cast<std::size_t>(size_));
    for (std::int64_t i = 0; i < size_; ++i) out[i] = kernel_.self(vectors_->squared_norms[i]);
    return out;
}

KernelMatrix::Way KernelMatrix::way(const Rows& rows) const {
    const bool full = rows.rows >= least_rows && dense(rows, static_cast<std::int64_t>(used_indices(rows).size()));
    const auto entries = [](const Rows& of) {
        return static_cast<double>(of.indices.size()) / static_cast<double>(std::max<std::int64_t>(of.rows, 1));
    };
    const double by_panels = std::min(static_cast<double>(features_.size()), row_entry_cost * entries(rows));
    if (full && !kernel_.by_differences() && (lists_ || vector_entry_cost * entries(*vectors_) < by_panels))
        return Way::rows_in_panels;
    return panels_ ? Way::vectors_in_panels : Way::lists;
}

void KernelMatrix::take(const Rows& rows, Way way, std::int64_t first, std::int64_t count, Block& block) const {
    std::vector<std::int64_t> which(static_cast<std::size_t>(count));
    std::iota(which.begin(), which.end(), first);
    block.count = count;
    if (way == Way::rows_in_panels) {
        block.panels.emplace(kernel_, rows, which);
        return;
    }
    block.panels.reset();
    panels_->take(rows, which.data(), count, block.by_row);
}

void KernelMatrix::fill(const Block& block, std::int64_t from, std::int64_t to, double* out,
                        std::int64_t stride) const {
    std::vector<double> scratch;
    if (!block.panels) {
        panels_->row_panel_kernel_values(block.by_row, from, to, out, stride);
        for (std::int64_t r : block.by_row.by_entry)
            panels_->kernel_values(block.by_row.rows[r], from, to, out + r * stride, scratch);
        return;
    }
    PreparedRow vector;
    double values[lanes * panel];  // one vector after the other
    for (std::int64_t s = from; s < to; s += lanes) {
        const std::int64_t now = std::clamp<std::int64_t>(size_ - s, 0, lanes);
        std::fill_n(values + now * panel, (lanes - now) * panel, 0.0);
        for (std::int64_t i = 0; i < now; ++i) {
            block.panels->take(*vectors_, s + i, vector);
            block.panels->kernel_values(vector, 0, panel, values + i * panel, scratch);
        }
        for (std::int64_t r = 0; r < block.count; ++r)
            for (std::int64_t i = 0; i < lanes; ++i) out[r * stride + (s - from) + i] = values[i * panel + r];
    }
}

void KernelMatrix::values(const Rows& rows, double* out) const {
    if (!size_) return;
    const Way chosen = way(rows);
    if (chosen == Way::lists) return by_lists(rows, 0, rows.rows, out);
    const std::int64_t together = chosen == Way::rows_in_panels ? panel : pass_rows;
    const std::int64_t tile = vectors_per_tile(features_.size()), padded = whole(size_, panel);
    Block block;
    for (std::int64_t first = 0; first < rows.rows; first += together) {
        take(rows, chosen, first, std::min(together, rows.rows - first), block);
        const std::int64_t work = tile * block.count * (features_.size() + value_work);
        parallel_for(padded, tile * groups(thread_work, work), [&](std::int64_t begin, std::int64_t end) {
            Aligned<double> numbers(static_cast<std::size_t>(block.count * tile));
            for (std::int64_t from = begin; from < end; from += tile) {
                const std::int64_t to = std::min(end, from + tile);
                fill(block, from, to, numbers.data(), tile);
                for (std::int64_t r = 0; r < block.count; ++r)
                    std::copy_n(numbers.data() + r * tile, std::min(size_, to) - from,
                                out + (first + r) * size_ + from);
            }
        });
    }
}

void KernelMatrix::by_lists(const Rows& rows, std::int64_t first, std::int64_t count, double* out) const {
    parallel_for(count, 1, [&](std::int64_t at, std::int64_t stop) {
        Columns row;
        Aligned<double> numbers(static_cast<std::size_t>(lists_->size()));
        for (; at < stop; ++at) {
            const std::int64_t r = first + at;
            row.take(features_, rows, r);
            lists_->kernel_values(row, rows.squared_norms[r], numbers.data());
            std::copy_n(numbers.data(), size_, out + at * size_);
        }
    });
}

void KernelMatrix::times(const Rows& rows, const double* weights, std::int64_t columns, double* out) const {
    std::fill_n(out, rows.rows * columns, 0.0);
    if (!size_ || !columns) return;
    const Way chosen = way(rows);
    const std::int64_t together = chosen == Way::rows_in_panels ? panel : pass_rows;
    const std::int64_t tile = std::max<std::int64_t>(vectors_per_tile(features_.size()), 4 * panel);
    const std::int64_t padded = whole(size_, panel), blocks = groups(columns, panel);
    std::vector<double> all;  // (rows, size), for lists
    Block block;
    for (std::int64_t first = 0; first < rows.rows; first += together) {
        const std::int64_t count = std::min(together, rows.rows - first), numbers = count * blocks * panel;
        if (chosen == Way::lists) {
            all.resize(static_cast<std::size_t>(count * size_));
            by_lists(rows, first, count, all.data());
        } else {
            take(rows, chosen, first, count, block);
        }
        const std::int64_t fit = std::clamp<std::int64_t>(most_part_numbers / numbers, 1, most_parts);
        const std::int64_t work = tile * count * (features_.size() + columns + value_work);
        const std::int64_t part = tile * std::max(groups(groups(padded, tile), fit), groups(thread_work, work));
        const std::int64_t parts = groups(padded, part);
        std::vector<Aligned<double>> sums(static_cast<std::size_t>(parts));  // (column blocks, rows, panel)
        parallel_workers(parts, 1, [&](Parts& taken) {
            Aligned<double> values(static_cast<std::size_t>(count * tile)),
                panels(static_cast<std::size_t>(tile * panel));
            PanelMatrix<double, row_panel> row_panels(count, tile);
            for (std::int64_t at, last; taken.next(at, last);) {
                sums[at].assign(static_cast<std::size_t>(numbers), 0.0);
                for (std::int64_t from = at * part; from < std::min(padded, (at + 1) * part); from += tile) {
                    const std::int64_t to = std::min({padded, (at + 1) * part, from + tile});
                    const std::int64_t here = std::min(size_, to) - from;
                    if (chosen != Way::lists) fill(block, from, to, values.data(), tile);
                    const double* const row = all.empty() ? values.data() : all.data() + from;
                    const std::int64_t stride = all.empty() ? tile : size_;
                    for (std::int64_t r = 0; r < count; ++r) {
                        double* const to_row_panel = row_panels.at(r, 0);
                        for (std::int64_t s = 0; s < here; ++s) to_row_panel[s * row_panel] = row[r * stride + s];
                    }
                    for (std::int64_t b = 0; b < blocks; ++b) {
                        const std::int64_t wide = std::min<std::int64_t>(panel, columns - b * panel);
                        for (std::int64_t s = 0; s < here; ++s) {
                            std::copy_n(weights + (from + s) * columns + b * panel, wide, panels.data() + s * panel);
                            std::fill_n(panels.data() + s * panel + wide, panel - wide, 0.0);
                        }
                        for (std::int64_t r = 0; r < count; r += row_panel) {
                            double* to_sums[row_panel];
                            for (std::int64_t i = 0; i < row_panel; ++i)
                                to_sums[i] = sums[at].data() + (b * count + std::min(r + i, count - 1)) * panel;
                            loops().tiles->double_dots(static_cast<int>(std::min<std::int64_t>(row_panel, count - r)),
                                                       here, false, row_panels.at(r, 0), panels.data(), to_sums);
                        }
                    }
                }
            }
        });
        for (const Aligned<double>& sum : sums)
            for (std::int64_t r = 0; r < count; ++r)
                for (std::int64_t c = 0; c < columns; ++c)
                    out[(first + r) * columns + c] += sum[(c / panel * count + r) * panel + c % panel];
    }
}

Rows rows_of_matrix(const double* matrix, std::int64_t rows, std::int64_t d) {
    const std::int64_t cells = rows * d, entries = cells - std::count(matrix, matrix + cells, 0.0);
    Rows out(rows, entries, 0);
    out.max_index = static_cast<std::int32_t>(d);
    std::int64_t e = 0;
    for (std::int64_t r = 0; r < rows; ++r, matrix += d) {
        double sum = 0;
        for (std::int64_t c = 0; c < d; ++c) {
            if (matrix[c] == 0) continue;
            out.indices[e] = static_cast<std::int32_t>(c + 1);
            out.values[e++] = matrix[c];
            sum += matrix[c] * matrix[c];
        }
        out.squared_norms[r] = sum;
        out.indptr[r + 1] = e;
    }
    return out;
}

}  // namespace fastsvm

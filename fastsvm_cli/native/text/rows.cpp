#include "text/rows.h"

#include <cmath>
#include <stdexcept>

#include "text/numbers.h"

namespace fastsvm {

namespace {

// Copies rows first, ..., last - 1 of `from` to `to`, from row `at` on, where its entries end.
void copy_rows(const Rows& from, std::int64_t first, std::int64_t last, Rows& to, std::int64_t at) {
    const std::int64_t begin = from.indptr[first], end = from.indptr[last], entry = to.indptr[at];
    const std::int64_t count = from.leading_count;
    std::copy_n(from.leading.data() + first * count, (last - first) * count, to.leading.data() + at * count);
    std::copy_n(from.indices.data() + begin, end - begin, to.indices.data() + entry);
    std::copy_n(from.values.data() + begin, end - begin, to.values.data() + entry);
    std::copy_n(from.squared_norms.data() + first, last - first, to.squared_norms.data() + at);
    for (std::int64_t r = first; r < last; ++r) to.indptr[at + r - first + 1] = entry + from.end(r) - begin;
    to.increasing = to.increasing && from.increasing;
}

}  // namespace

void Rows::reset(std::int64_t count, std::int64_t entries, int count_of_leading) {
    rows = count;
    first_line = 1;
    leading_count = count_of_leading;
    max_index = 0;
    leading.resize(rows * leading_count);
    indptr.resize(rows + 1);
    indices.resize(entries);
    values.resize(entries);
    squared_norms.resize(rows);
    indptr[0] = 0;
    scaling = ScalingCounts();
    gaps.clear();
    increasing = true;
}

void Rows::truncate(std::int64_t first_rows) {
    rows = first_rows;
    leading.resize(rows * leading_count);
    indptr.resize(rows + 1);
    indices.resize(indptr[rows]);
    values.resize(indptr[rows]);
    squared_norms.resize(rows);
}

bool Rows::complete(std::int64_t row) {
    std::int64_t last = -1;
    double squared_norm = 0;
    bool sound = true;
    for (std::int64_t e = begin(row); e < end(row); ++e) {
        sound = sound && indices[e] > last && std::isfinite(values[e]);
        last = indices[e];
        squared_norm += values[e] * values[e];
    }
    squared_norms[row] = squared_norm;
    return sound;
}

std::string Rows::error(std::int64_t row) const {
    std::int64_t last = -1;
    for (std::int64_t e = begin(row); e < end(row); last = indices[e++]) {
        if (indices[e] <= last) return index_error(indices[e], last);
        if (!std::isfinite(values[e])) return not_finite_error(values[e]);
    }
    return "";
}

void Rows::find_max_index() {
    max_index = 0;
    for (std::int64_t r = 0; r < rows; ++r)
        if (end(r) > begin(r)) max_index = std::max(max_index, indices[end(r) - 1]);
}

void Rows::add_gap(const Gap& gap) {
    if (gaps.empty() || gaps.back().row != gap.row) {
        gaps.push_back(gap);
    } else {
        gaps.back().lines += gap.lines;
        gaps.back().bad += gap.bad;
    }
}

std::vector<std::int64_t> lines_of(const std::vector<std::int64_t>& rows, std::int64_t first_line,
                                   const std::vector<Gap>& gaps, std::int64_t first_row) {
    std::vector<std::int64_t> out;
    out.reserve(rows.size());
    std::int64_t between = 0;
    auto gap = gaps.begin();
    for (const std::int64_t row : rows) {
        for (; gap != gaps.end() && gap->row <= first_row + row; ++gap) between += gap->lines;
        out.push_back(first_line + row + between);
    }
    return out;
}

Rows select_rows(const Rows& from, const std::vector<std::int64_t>& requested) {
    std::int64_t entries = 0;
    for (std::int64_t r : requested) {
        if (r < 0 || r >= from.rows) throw std::out_of_range("row out of range");
        entries += from.end(r) - from.begin(r);
    }
    const std::int64_t n = static_cast<std::int64_t>(requested.size());
    Rows to(n, entries, from.leading_count);
    to.first_line = from.first_line;
    to.max_index = from.max_index;
    std::int64_t at = 0;
    for (std::int64_t r : requested) copy_rows(from, r, r + 1, to, at++);
    return to;
}

Rows slice_rows(const Rows& from, std::int64_t first, std::int64_t last) {
    if (first < 0 || last < first || last > from.rows) throw std::out_of_range("row out of range");
    Rows to(last - first, from.indptr[last] - from.indptr[first], from.leading_count);
    to.first_line = from.line_numbers({first})[0];
    for (const Gap& gap : from.gaps)
        if (gap.row > first && gap.row < last) to.add_gap({gap.row - first, gap.lines, gap.bad});
    to.max_index = from.max_index;
    copy_rows(from, first, last, to, 0);
    return to;
}

Rows concatenate_rows(const std::vector<std::shared_ptr<const Rows>>& parts) {
    std::int64_t rows = 0, entries = 0;
    for (const auto& part : parts) {
        if (part->leading_count != parts[0]->leading_count)
            throw std::invalid_argument("a chunk of " + std::to_string(part->leading_count) +
                                        " leading numbers found after one of " +
                                        std::to_string(parts[0]->leading_count) + ", expected the same in all");
        rows += part->rows;
        entries += part->indices.size();
    }
    Rows to(rows, entries, parts.empty() ? 1 : parts[0]->leading_count);
    if (!parts.empty()) to.first_line = parts[0]->first_line;
    std::int64_t at = 0;
    for (const auto& part : parts) {
        copy_rows(*part, 0, part->rows, to, at);
        for (const Gap& gap : part->gaps) to.add_gap({gap.row + at, gap.lines, gap.bad});
        at += part->rows;
        to.max_index = std::max(to.max_index, part->max_index);
        to.scaling.add(part->scaling);
    }
    return to;
}

std::string format_rows(const Rows& rows, const std::vector<std::int64_t>& lines) {
    const bool numbered = !lines.empty();
    if (numbered && static_cast<std::int64_t>(lines.size()) != rows.rows)
        throw std::invalid_argument("a line number per row");
    std::string text;
    char buffer[number_text_max];
    const auto append = [&](double value) {
        if (numbered && value == 0 && std::signbit(value)) text += '-';
        text.append(buffer, static_cast<std::size_t>(write_shortest(buffer, value) - buffer));
        text += ' ';
    };
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const std::size_t line = text.size();
        for (int j = 0; j < rows.leading_count; ++j) append(rows.leading[r * rows.leading_count + j]);
        if (numbered && rows.leading_count == 0) text += "0 ";
        for (std::int64_t e = rows.begin(r); e < rows.end(r); ++e) {
            text += std::to_string(rows.indices[e]);
            text += ':';
            append(rows.values[e]);
        }
        if (numbered) {
            text += "# ";
            text += std::to_string(lines[static_cast<std::size_t>(r)]);
        } else if (text.size() > line) {
            text.pop_back();
        }
        text += '\n';
    }
    return text;
}

}  // namespace fastsvm

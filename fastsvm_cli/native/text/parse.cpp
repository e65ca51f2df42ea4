#include "text/parse.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "simd/loops.h"
#include "simd/parallel.h"
#include "text/text_slice.h"

namespace fastsvm {

namespace {

std::vector<TextSlice> split(const char* text, std::size_t size, const Format& format) {
    // At least 256 KB per thread. One slice if max_rows may stop it, or if the first row sets the width.
    constexpr std::size_t grain = 1 << 18;
    const bool one = format.max_rows >= 0 || (format.dense && format.fields < 0);
    const std::size_t slice_count =
        one ? 1 : std::min<std::size_t>(static_cast<std::size_t>(get_threads()), size / grain + 1);
    std::vector<TextSlice> slices;
    const char* begin = text;
    const char* const end = text + size;
    for (std::size_t i = 1; i <= slice_count && begin < end; ++i) {
        const char* stop = end;
        if (i < slice_count) {
            const char* const goal = std::max(begin, text + size / slice_count * i);
            stop = static_cast<const char*>(std::memchr(goal, '\n', static_cast<std::size_t>(end - goal))) + 1;
        }
        TextSlice slice{};
        slice.begin = begin;
        slice.end = stop;
        slices.push_back(slice);
        begin = stop;
    }
    return slices;
}

const char* after_line(const char* p, const char* end) {
    return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) + 1;
}

}  // namespace

std::int64_t count_lines(const char* text, std::size_t size) {
    return loops().text->count(text, static_cast<std::int64_t>(size), '\n').lines;
}

ParseResult parse(const char* text, std::size_t size, std::int64_t first_line, const Format& format) {
    ParseResult result;
    std::vector<TextSlice> slices = split(text, size, format);
    const std::int64_t parts = static_cast<std::int64_t>(slices.size());
    const char separator = format.dense ? format.delimiter : ':';
    // Upper bounds: a row ends in LF; an entry has a ':' or follows a delimiter. Comments only add.
    std::vector<ByteCounts> counts(slices.size());
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            counts[i] = loops().text->count(slices[i].begin, slices[i].end - slices[i].begin, separator);
            // Dense rows have one field more than delimiters. With blanks, the bytes bound the fields.
            if (format.dense)
                counts[i].separators = separator == ' ' ? (slices[i].end - slices[i].begin) / 2 + 1
                                                        : counts[i].separators + counts[i].lines;
            if (format.scaling)
                counts[i].separators += counts[i].lines * static_cast<std::int64_t>(format.scaling->shifted().size());
        }
    });
    std::int64_t row_base = 0, entry_base = 0;
    for (std::int64_t i = 0; i < parts; ++i) {
        slices[i].row_base = row_base;
        slices[i].entry_base = entry_base;
        row_base += counts[i].lines;
        entry_base += counts[i].separators;
    }
    Rows& rows = result.rows;
    rows = Rows::allocated(row_base, entry_base, format.leading_count);
    rows.first_line = first_line;
    const Target target{rows.leading.data(), rows.indptr.data() + 1, rows.indices.data(), rows.values.data(),
                        rows.squared_norms.data()};
    const auto parse_slice = format.scaling ? (format.dense ? parse_dense<true> : parse_sparse<true>)
                                            : (format.dense ? parse_dense<false> : parse_sparse<false>);
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) parse_slice(slices[i], format, target);
    });

    // Close the gaps between slices, and stop at the first error.
    std::int64_t row_count = 0, entry_count = 0, comment_lines = 0;
    for (TextSlice& slice : slices) {
        if (slice.row_base != row_count) {
            const auto close = [&](auto* of_rows, std::int64_t each) {
                if (slice.rows * each == 0) return;  // there may be no memory
                std::memmove(of_rows + row_count * each, of_rows + slice.row_base * each,
                             sizeof(*of_rows) * static_cast<std::size_t>(slice.rows * each));
            };
            close(target.leading, format.leading_count);
            close(target.row_end, 1);
            close(target.squared_norms, 1);
            slice.row_base = row_count;
        }
        for (const Gap& gap : slice.comments) {
            rows.add_gap({row_count + gap.row, gap.lines});
            comment_lines += gap.lines;
        }
        if (slice.entry_base != entry_count) {
            std::memmove(rows.indices.data() + entry_count, rows.indices.data() + slice.entry_base,
                         sizeof(std::int32_t) * slice.entries);
            std::memmove(rows.values.data() + entry_count, rows.values.data() + slice.entry_base,
                         sizeof(double) * slice.entries);
            for (std::int64_t r = 0; r < slice.rows; ++r)
                target.row_end[slice.row_base + r] -= slice.entry_base - entry_count;
        }
        row_count += slice.rows;
        entry_count += slice.entries;
        rows.max_index = std::max(rows.max_index, slice.max_index);
        rows.increasing = rows.increasing && slice.increasing;
        rows.scaling.add(slice.scaling);
        result.consumed = static_cast<std::size_t>(slice.end - text);
        result.fields = format.dense ? slice.fields : 0;
        if (!slice.error.empty()) {
            result.error = slice.error;
            result.error_line = first_line + row_count + comment_lines;
            break;
        }
    }
    rows.rows = row_count;
    rows.leading.truncate(row_count * format.leading_count);
    rows.indptr.truncate(row_count + 1);
    rows.indices.truncate(entry_count);
    rows.values.truncate(entry_count);
    rows.squared_norms.truncate(row_count);
    for (std::int64_t e = 0; !rows.increasing && e < entry_count; ++e)
        rows.max_index = std::max(rows.max_index, rows.indices[e]);
    return result;
}

// After an error, parses windows that double while all lines are rows, and shrink to one line otherwise: each line is
// read only a few times. Then parses all good lines as one text.
AroundResult parse_around(const char* text, std::size_t size, std::int64_t first_line, Format format,
                          std::size_t keep) {
    AroundResult result;
    std::string good;
    Rows around;  // holds only gaps
    std::int64_t rows = 0, line = first_line;
    const char* p = text;
    const char* const end = text + size;
    std::size_t window = size;
    while (p < end) {
        const std::size_t left = static_cast<std::size_t>(end - p);
        const char* const last = p + std::min(std::max<std::size_t>(window, 1), left) - 1;
        const char* const stop = after_line(last, end);
        ParseResult part = parse(p, static_cast<std::size_t>(stop - p), line, format);
        if (format.dense) format.fields = part.fields;
        if (part.error.empty() && p == text && stop == end) {
            result.rows = std::move(part.rows);
            result.fields = part.fields;
            return result;
        }
        good.append(p, part.consumed);
        for (const Gap& gap : part.rows.gaps) {
            around.add_gap({rows + gap.row, gap.lines});
            line += gap.lines;
        }
        rows += part.rows.rows;
        line += part.rows.rows;
        p += part.consumed;
        if (part.error.empty()) {
            window *= 2;
            continue;
        }
        around.add_gap({rows, 1, 1});
        if (result.errors.size() < keep) result.errors.emplace_back(line, std::move(part.error));
        ++line;
        p = after_line(p, end);
        window = 1;
    }
    ParseResult all = parse(good.data(), good.size(), first_line, format);
    result.rows = std::move(all.rows);
    result.rows.gaps = std::move(around.gaps);
    result.fields = format.dense ? format.fields : 0;
    return result;
}

}  // namespace fastsvm

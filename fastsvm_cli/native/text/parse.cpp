#include "text/parse.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "simd/loops.h"
#include "simd/parallel.h"
#include "text/piece.h"

namespace fastsvm {

namespace {

std::vector<Piece> split(const char* text, std::size_t size, const Format& format) {
    // At least 256 KB per thread. One piece if max_rows may stop it, or if the first row sets the width.
    constexpr std::size_t grain = 1 << 18;
    const bool one = format.max_rows >= 0 || (format.dense && format.fields < 0);
    const std::size_t wanted =
        one ? 1 : std::min<std::size_t>(static_cast<std::size_t>(get_threads()), size / grain + 1);
    std::vector<Piece> pieces;
    const char* begin = text;
    const char* const end = text + size;
    for (std::size_t i = 1; i <= wanted && begin < end; ++i) {
        const char* stop = end;
        if (i < wanted) {
            const char* const goal = std::max(begin, text + size / wanted * i);
            stop = static_cast<const char*>(std::memchr(goal, '\n', static_cast<std::size_t>(end - goal))) + 1;
        }
        Piece piece{};
        piece.begin = begin;
        piece.end = stop;
        pieces.push_back(piece);
        begin = stop;
    }
    return pieces;
}

}  // namespace

std::int64_t count_lines(const char* text, std::size_t size) {
    return loops().text->count(text, static_cast<std::int64_t>(size), '\n').lines;
}

ParseResult parse(const char* text, std::size_t size, std::int64_t first_line, const Format& format) {
    ParseResult result;
    Rows& rows = result.rows;
    rows.leading_count = format.leading_count;
    rows.first_line = first_line;

    std::vector<Piece> pieces = split(text, size, format);
    const std::int64_t parts = static_cast<std::int64_t>(pieces.size());
    const char separator = format.dense ? format.delimiter : ':';
    // Upper bounds: a row ends in LF; an entry has a ':' or follows a delimiter. Comments only add.
    std::vector<ByteCounts> counts(pieces.size());
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            counts[i] = loops().text->count(pieces[i].begin, pieces[i].end - pieces[i].begin, separator);
            // Dense rows have one field more than delimiters. With blanks, the bytes bound the fields.
            if (format.dense)
                counts[i].separators = separator == ' ' ? (pieces[i].end - pieces[i].begin) / 2 + 1
                                                        : counts[i].separators + counts[i].lines;
            if (format.scaling)
                counts[i].separators += counts[i].lines * static_cast<std::int64_t>(format.scaling->shifted().size());
        }
    });
    std::int64_t row_base = 0, entry_base = 0;
    for (std::int64_t i = 0; i < parts; ++i) {
        pieces[i].row_base = row_base;
        pieces[i].entry_base = entry_base;
        row_base += counts[i].lines;
        entry_base += counts[i].separators;
    }
    rows.leading = Array<double>(row_base * format.leading_count);
    rows.indptr = Array<std::int64_t>(row_base + 1);
    rows.indices = Array<std::int32_t>(entry_base);
    rows.values = Array<double>(entry_base);
    rows.squared_norms = Array<double>(row_base);
    rows.indptr[0] = 0;
    const Target target{rows.leading.data(), rows.indptr.data() + 1, rows.indices.data(), rows.values.data(),
                        rows.squared_norms.data()};
    const auto parse_piece = format.scaling ? (format.dense ? parse_dense<true> : parse_sparse<true>)
                                            : (format.dense ? parse_dense<false> : parse_sparse<false>);
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) parse_piece(pieces[i], format, target);
    });

    // Close the gaps between pieces, and stop at the first fault.
    std::int64_t row_count = 0, entry_count = 0, comment_lines = 0;
    for (Piece& piece : pieces) {
        if (piece.row_base != row_count) {
            const auto close = [&](auto* of_rows, std::int64_t each) {
                if (piece.rows * each == 0) return;  // there may be no memory
                std::memmove(of_rows + row_count * each, of_rows + piece.row_base * each,
                             sizeof(*of_rows) * static_cast<std::size_t>(piece.rows * each));
            };
            close(target.leading, format.leading_count);
            close(target.row_end, 1);
            close(target.squared_norms, 1);
            piece.row_base = row_count;
        }
        for (const Gap& gap : piece.comments) {
            rows.add_gap({row_count + gap.row, gap.lines});
            comment_lines += gap.lines;
        }
        if (piece.entry_base != entry_count) {
            std::memmove(rows.indices.data() + entry_count, rows.indices.data() + piece.entry_base,
                         sizeof(std::int32_t) * piece.entries);
            std::memmove(rows.values.data() + entry_count, rows.values.data() + piece.entry_base,
                         sizeof(double) * piece.entries);
            for (std::int64_t r = 0; r < piece.rows; ++r)
                target.row_end[piece.row_base + r] -= piece.entry_base - entry_count;
        }
        row_count += piece.rows;
        entry_count += piece.entries;
        rows.max_index = std::max(rows.max_index, piece.max_index);
        rows.increasing = rows.increasing && piece.increasing;
        rows.scaling.add(piece.scaling);
        result.consumed = static_cast<std::size_t>(piece.end - text);
        result.fields = format.dense ? piece.fields : 0;
        if (!piece.fault.empty()) {
            result.fault = piece.fault;
            result.fault_line = first_line + row_count + comment_lines;
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

}  // namespace fastsvm

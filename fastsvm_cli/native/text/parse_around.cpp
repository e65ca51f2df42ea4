#include "text/parse_around.h"

#include <algorithm>
#include <cstring>

namespace fastsvm {

namespace {

const char* after_line(const char* p, const char* end) {
    return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) + 1;
}

}  // namespace

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

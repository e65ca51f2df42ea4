#include "text/parse.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "simd/loops.h"
#include "simd/parallel.h"
#include "text/numbers.h"
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

std::int64_t count_lines(std::string_view text) {
    return loops().text->count(text.data(), static_cast<std::int64_t>(text.size()), '\n').lines;
}

ParseResult parse(std::string_view text, std::int64_t first_line, const Format& format) {
    ParseResult result;
    std::vector<TextSlice> slices = split(text.data(), text.size(), format);
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
    rows.reset(row_base, entry_base, format.leading_count);
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
        result.consumed = static_cast<std::size_t>(slice.end - text.data());
        result.fields = format.dense ? slice.fields : 0;
        if (!slice.error.empty()) {
            result.error = slice.error;
            result.error_line = first_line + row_count + comment_lines;
            break;
        }
    }
    rows.truncate(row_count);
    for (std::int64_t e = 0; !rows.increasing && e < entry_count; ++e)
        rows.max_index = std::max(rows.max_index, rows.indices[e]);
    return result;
}

// After an error, parses windows that double while all lines are rows, and shrink to one line otherwise: each line is
// read only a few times. Then parses all good lines as one text.
AroundResult parse_around(std::string_view text, std::int64_t first_line, Format format, std::size_t keep) {
    AroundResult result;
    std::string good;
    Rows around;  // holds only gaps
    std::int64_t rows = 0, line = first_line;
    const char* p = text.data();
    const char* const end = p + text.size();
    std::size_t window = text.size();
    while (p < end) {
        const std::size_t left = static_cast<std::size_t>(end - p);
        const char* const last = p + std::min(std::max<std::size_t>(window, 1), left) - 1;
        const char* const stop = after_line(last, end);
        ParseResult part = parse({p, static_cast<std::size_t>(stop - p)}, line, format);
        if (format.dense) format.fields = part.fields;
        if (part.error.empty() && p == text.data() && stop == end) {
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
    ParseResult all = parse(good, first_line, format);
    result.rows = std::move(all.rows);
    result.rows.gaps = std::move(around.gaps);
    result.fields = format.dense ? format.fields : 0;
    return result;
}

namespace {

bool is_entry(const char* p) {
    const char* const digits = p;
    while (is_digit(*p)) ++p;
    return p > digits && *p == ':';
}

// The byte after a `qid:N` (SVMlight's query number) at p, or null.
__attribute__((cold, noinline)) const char* after_qid(const char* p) {
    constexpr char name[] = "qid:";
    for (const char* c = name; *c; ++c)
        if (*p++ != *c) return nullptr;
    if (*p == '-' || *p == '+') ++p;
    const char* const digits = p;
    while (is_digit(*p)) ++p;
    return p > digits && ends_word(p) ? p : nullptr;
}

// The byte after comma-separated labels, if an entry follows, or null. Blanks may follow the commas.
__attribute__((cold, noinline)) const char* after_labels(const char* p) {
    int labels = 0;
    for (bool more = true; more; ++labels) {
        double ignored;
        NumberStatus status;
        p = read_double(p, &ignored, &status);
        if (status != NumberStatus::ok) return nullptr;
        more = *p == ',';
        if (more) p = skip_blanks(p + 1);
    }
    if (labels < 2 || !ends_word(p)) return nullptr;
    const char* const entry = skip_blanks(p);
    return is_entry(entry) || after_qid(entry) ? p : nullptr;
}

// Reads leading numbers. Returns the byte after them, or null: with an error, or at a comment line.
const char* read_leading(const char* p, const char* end, const Format& format, double* out, std::string* error) {
    const char* const what = format.leading_name;
    const char* const line = p;
    const char* const digit = p + (*p == '-' || *p == '+');
    if (format.leading_count == 1 && is_digit(*digit) && digit[1] == ' ') {  // the common case
        const double size = *digit - '0';
        *out = *p == '-' ? -size : size;
        return digit + 1;
    }
    if (format.leading_count == 0 && format.svmlight && *skip_blanks(p) == '#') return nullptr;
    for (int i = 0; i < format.leading_count; ++i) {
        p = skip_blanks(p);
        if (*p == '\n') {
            *error = i == 0 ? std::string("a blank line found, expected ") + what
                            : std::string("the end of the line found, expected ") + what;
            return nullptr;
        }
        NumberStatus status;
        const char* const next = read_double(p, out + i, &status);
        if (status != NumberStatus::ok || !ends_word(next)) {
            if (format.svmlight && i == 0 && *p == '#') return nullptr;
            if (const char* const last = format.svmlight ? after_labels(p) : nullptr) {
                *error = "a multi-label line (" + quote(p, last) + ") found, expected one label";
                return nullptr;
            }
            if (status == NumberStatus::ok) status = NumberStatus::not_a_number;
            *error = number_error(status, p, end, what);
            if (status == NumberStatus::not_a_number && *next == ':' && std::strcmp(what, "a label") == 0)
                *error += line == p ? " (is the data unlabelled?)"
                                    : " (is the data unlabelled, or is this a multi-label line without labels?)";
            return nullptr;
        }
        p = next;
    }
    return p;
}

// Skips the comment line at p. Returns null with an error.
__attribute__((cold, noinline)) const char* skip_comment(const char* p, TextSlice& slice, const Format& format) {
    const char* const stop = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(slice.end - p)));
    slice.error = comment_error(p, stop, format.plain_comments);
    if (!slice.error.empty()) return nullptr;
    if (slice.comments.empty() || slice.comments.back().row != slice.rows) slice.comments.push_back({slice.rows, 0});
    ++slice.comments.back().lines;
    return stop + 1;
}

}  // namespace

// index:value.
template <bool scaled> void parse_sparse(TextSlice& slice, const Format& format, const Target& target) {
    const char* p = slice.begin;
    const char* const end = slice.end;
    double* leading = target.leading + slice.row_base * format.leading_count;
    EntryWriter<scaled> entries(slice, target, format);
    const auto stop = [&](std::string error) { slice.error = std::move(error); };

    while (p < end && (format.max_rows < 0 || slice.rows < format.max_rows)) {
        const char* const line = p;
        p = read_leading(p, end, format, leading, &slice.error);
        if (!p && slice.error.empty()) {
            p = skip_comment(line, slice, format);
            if (p) continue;
        }
        if (!p) {
            p = line;
            break;
        }
        constexpr std::int64_t none = -1, none_but_qid = -2;
        std::int64_t last = none;
        bool good = true;
        entries.begin_row();
        if (scaled && !scale_label(format, leading)) {
            stop(label_beyond_range);
            good = false;
        }
        const char* const first_word = p;
        bool plain = *p != '\n';  // expect plain words next
        while (good) {
            if (plain) {
                const std::int64_t before = last;
                p = entries.take_plain(p, end, last);
                plain = p && last != before;
                if (!p) {  // read the row again, word by word, for the error
                    entries.drop_row();
                    entries.begin_row();
                    p = first_word;
                    last = none;
                }
            }
            while (is_blank(*p)) ++p;
            const char* const token = p;
            if (!is_digit(*p)) {
                p = skip_blanks(p);
                if (*p == '\n') break;
                if (*p == '#') {
                    p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
                    stop(comment_error(token, p, format.plain_comments));
                    good = slice.error.empty();
                    break;
                }
                if (*p == 'q' && format.svmlight && last == none) {
                    const char* const next = after_qid(p);
                    if (next) {
                        p = next;
                        last = none_but_qid;
                        continue;
                    }
                }
                if (*p == '+') ++p;
            }
            const char* const digits = p;
            std::int64_t index = 0;
            while (is_digit(*p)) {
                index = index * 10 + (*p++ - '0');
                if (index > std::numeric_limits<std::int32_t>::max()) break;
            }
            if (index > std::numeric_limits<std::int32_t>::max()) {
                stop(quote_word(token, end) + " found, expected an index of at most 2147483647");
                good = false;
                break;
            }
            if (p == digits || *p != ':') {
                stop(word_error(token, end, "index:value"));
                good = false;
                break;
            }
            if (index <= last && format.any_order) {
                slice.increasing = false;
            } else if (index <= last) {
                stop(index_error(static_cast<std::int32_t>(index), last));
                good = false;
                break;
            }
            NumberStatus status;
            double value;
            const char* next = read_double(p + 1, &value, &status);
            if (status != NumberStatus::ok && is_blank(p[1]))  // `3: .5`, as LIBSVM reads it
                next = read_double(skip_blanks(p + 1), &value, &status);
            if (status != NumberStatus::ok || !ends_word(next)) {
                stop(number_error(status, token, end, "index:value"));
                good = false;
                break;
            }
            if (!entries.put(static_cast<std::int32_t>(index), value)) {
                stop(scaling_error(*format.scaling, static_cast<std::int32_t>(index), quote_word(token, end)));
                good = false;
                break;
            }
            p = next;
            last = index;
        }
        if (!good) {
            entries.drop_row();
            p = line;
            break;
        }
        ++p;
        entries.end_row();
        leading += format.leading_count;
    }
    entries.end_slice(p);
}

template void parse_sparse<false>(TextSlice& slice, const Format& format, const Target& target);
template void parse_sparse<true>(TextSlice& slice, const Format& format, const Target& target);

// Delimited values. Leading fields come first; zeros are not stored.
template <bool scaled> void parse_dense(TextSlice& slice, const Format& format, const Target& target) {
    const char* p = slice.begin;
    const char* const end = slice.end;
    const bool blanks = format.delimiter == ' ';
    double* leading = target.leading + slice.row_base * format.leading_count;
    EntryWriter<scaled> entries(slice, target, format);
    slice.fields = format.fields;

    const auto skip_spaces = [&](const char* q) {
        if (blanks || format.delimiter != '\t') return skip_blanks(q);
        while (*q == ' ') ++q;
        return at_line_end(q) && *q == '\r' ? q + 1 : q;
    };
    while (p < end) {
        const char* const line = p;
        std::int64_t field = 0;  // includes leading ones
        entries.begin_row();
        p = skip_spaces(p);
        if (*p == '\n')
            slice.error = std::string("a blank line found, expected ") + (format.leading_count ? "a label" : "a value");
        while (slice.error.empty()) {
            const char* const token = p;
            double value;
            NumberStatus status;
            const char* next = read_double(p, &value, &status);
            const char* const after = skip_spaces(next);
            const bool ends = *after == '\n' || (blanks ? after > next : *after == format.delimiter);
            if (status != NumberStatus::ok || !ends) {
                const bool label_field = field < format.leading_count;
                const char* const expected = label_field ? "a label" : "a number";
                if (*token == format.delimiter || *token == '\n')
                    slice.error = std::string("an empty field found, expected ") + expected;
                else
                    slice.error = number_error(status, token, end, expected, format.delimiter);
                break;
            }
            if (field < format.leading_count) {
                leading[field] = value;
                if (scaled && !scale_label(format, leading)) {
                    slice.error = label_beyond_range;
                    break;
                }
            } else if (value != 0) {
                const std::int32_t index = static_cast<std::int32_t>(field - format.leading_count + format.first_index);
                if (!entries.put(index, value)) {
                    slice.error = scaling_error(*format.scaling, index, quote_word(token, end, format.delimiter));
                    break;
                }
            }
            ++field;
            p = after;
            if (*p == '\n') break;
            if (!blanks) ++p;
            p = skip_spaces(p);
        }
        const std::int64_t values = field - format.leading_count;
        if (slice.error.empty() && values < 0) slice.error = "the end of the line found, expected a label";
        if (slice.error.empty() && slice.fields >= 0 && values != slice.fields)
            slice.error = std::to_string(values) + " values found, expected " + std::to_string(slice.fields) +
                          " as in the first row";
        if (!slice.error.empty()) {
            entries.drop_row();
            p = line;
            break;
        }
        slice.fields = values;
        ++p;
        leading += format.leading_count;
        entries.end_row();
    }
    entries.end_slice(p);
    const std::int64_t last = slice.fields - 1 + format.first_index;
    if (!scaled) slice.max_index = static_cast<std::int32_t>(std::max<std::int64_t>(last, 0));
}

template void parse_dense<false>(TextSlice& slice, const Format& format, const Target& target);
template void parse_dense<true>(TextSlice& slice, const Format& format, const Target& target);

}  // namespace fastsvm

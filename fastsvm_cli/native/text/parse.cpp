#include "text/parse.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "simd/loops.h"
#include "simd/parallel.h"
#include "text/numbers.h"
#include "text/text_slice.h"

namespace fastsvm {

namespace {

// The line feed at p or after it, before `end`.
const char* line_feed(const char* p, const char* end) {
    return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
}

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
            stop = line_feed(goal, end) + 1;
        }
        TextSlice& slice = slices.emplace_back();
        slice.begin = begin;
        slice.end = stop;
        begin = stop;
    }
    return slices;
}

bool is_entry(const char* p) {
    const char* const digits = p;
    while (is_digit(*p)) ++p;
    return p > digits && *p == ':';
}

// The byte after a `qid:N` (SVMlight's query number) at p, or null.
__attribute__((cold, noinline)) const char* after_qid(const char* p) {
    constexpr std::string_view name = "qid:";
    if (std::strncmp(p, name.data(), name.size()) != 0) return nullptr;
    p += name.size();
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
            *error = std::string(i == 0 ? "a blank line" : "the end of the line") + " found, expected " + what;
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

// Ends a slice with an error.
__attribute__((cold)) const char* refuse(TextSlice& slice, std::string why) {
    slice.error = std::move(why);
    return nullptr;
}

// Skips the comment line at p. Returns null with an error.
__attribute__((cold, noinline)) const char* skip_comment(const char* p, TextSlice& slice, const Format& format) {
    const char* const stop = line_feed(p, slice.end);
    slice.error = comment_error(p, stop, format.plain_comments);
    if (!slice.error.empty()) return nullptr;
    if (slice.comments.empty() || slice.comments.back().row != slice.rows) slice.comments.push_back({slice.rows, 0});
    ++slice.comments.back().lines;
    return stop + 1;
}

// Scales the label if requested. Returns false if the result is not finite.
bool scale_label(const Format& format, double* leading) {
    if (!format.scaling || !format.scaling->scales_labels() || format.leading_count != 1) return true;
    *leading = format.scaling->label(*leading);
    return std::isfinite(*leading);
}

constexpr const char* label_beyond_range =
    "a label found that the range file's y cannot scale, expected a finite result";

}  // namespace

// Parses index:value up to the first error, which `slice` then holds. The slice ends at the invalid line. In the
// unnamed namespace, g++ would make it 5 % slower.
template <bool scaled> void parse_sparse(TextSlice& slice, const Format& format, Rows& target) {
    const char* p = slice.begin;
    const char* const end = slice.end;
    double* leading = target.leading.data() + slice.row_base * format.leading_count;
    EntryWriter<scaled> entries(slice, target, format);

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
        entries.begin_row();
        bool good = !scaled || scale_label(format, leading);
        if (!good) slice.error = label_beyond_range;
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
                    p = line_feed(p, end);
                    slice.error = comment_error(token, p, format.plain_comments);
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
            // From here on, an error ends the row.
            good = false;
            const char* const digits = p;
            std::int64_t index = 0;
            while (is_digit(*p)) {
                index = index * 10 + (*p++ - '0');
                if (index > std::numeric_limits<std::int32_t>::max()) break;
            }
            if (index > std::numeric_limits<std::int32_t>::max()) {
                slice.error = quote_word(token, end) + " found, expected an index of at most 2147483647";
                break;
            }
            if (p == digits || *p != ':') {
                slice.error = word_error(token, end, "index:value");
                break;
            }
            if (index <= last && format.any_order) {
                slice.increasing = false;
            } else if (index <= last) {
                slice.error = index_error(static_cast<std::int32_t>(index), last);
                break;
            }
            NumberStatus status;
            double value;
            const char* next = read_double(p + 1, &value, &status);
            if (status != NumberStatus::ok && is_blank(p[1]))  // `3: .5`, as LIBSVM reads it
                next = read_double(skip_blanks(p + 1), &value, &status);
            if (status != NumberStatus::ok || !ends_word(next)) {
                slice.error = number_error(status, token, end, "index:value");
                break;
            }
            if (!entries.put(static_cast<std::int32_t>(index), value)) {
                slice.error = scaling_error(*format.scaling, static_cast<std::int32_t>(index), quote_word(token, end));
                break;
            }
            good = true;
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

// Likewise delimited values. Leading fields come first; zeros are not stored.
template <bool scaled> void parse_dense(TextSlice& slice, const Format& format, Rows& target) {
    const char* p = slice.begin;
    const char* const end = slice.end;
    const bool blanks = format.delimiter == ' ';
    double* leading = target.leading.data() + slice.row_base * format.leading_count;
    EntryWriter<scaled> entries(slice, target, format);
    slice.fields = format.fields;

    const auto skip_spaces = [&](const char* q) {
        if (blanks || format.delimiter != '\t') return skip_blanks(q);
        while (*q == ' ') ++q;
        return at_line_end(q) && *q == '\r' ? q + 1 : q;
    };
    // Reads the fields from p on. Returns the end of their line, or null with an error.
    const auto read_fields = [&](const char* p) -> const char* {
        std::int64_t field = 0;  // includes leading ones
        entries.begin_row();
        p = skip_spaces(p);
        if (*p == '\n')
            return refuse(
                slice, std::string("a blank line found, expected ") + (format.leading_count ? "a label" : "a value"));
        for (;;) {
            const char* const token = p;
            double value;
            NumberStatus status;
            const char* next = read_double(p, &value, &status);
            const char* const after = skip_spaces(next);
            const bool ends = *after == '\n' || (blanks ? after > next : *after == format.delimiter);
            if (status != NumberStatus::ok || !ends) {
                const char* const expected = field < format.leading_count ? "a label" : "a number";
                if (*token == format.delimiter || *token == '\n')
                    return refuse(slice, std::string("an empty field found, expected ") + expected);
                return refuse(slice, number_error(status, token, end, expected, format.delimiter));
            }
            if (field < format.leading_count) {
                leading[field] = value;
                if (scaled && !scale_label(format, leading)) return refuse(slice, label_beyond_range);
            } else if (value != 0) {
                const std::int32_t index = static_cast<std::int32_t>(field - format.leading_count + format.first_index);
                if (!entries.put(index, value))
                    return refuse(slice,
                                  scaling_error(*format.scaling, index, quote_word(token, end, format.delimiter)));
            }
            ++field;
            p = after;
            if (*p == '\n') break;
            if (!blanks) ++p;
            p = skip_spaces(p);
        }
        const std::int64_t values = field - format.leading_count;
        if (values < 0) return refuse(slice, "the end of the line found, expected a label");
        if (slice.fields >= 0 && values != slice.fields)
            return refuse(slice, std::to_string(values) + " values found, expected " + std::to_string(slice.fields) +
                                     " as in the first row");
        slice.fields = values;
        return p;
    };
    while (p < end) {
        const char* const stop = read_fields(p);
        if (!stop) {
            entries.drop_row();
            break;
        }
        p = stop + 1;
        leading += format.leading_count;
        entries.end_row();
    }
    entries.end_slice(p);
    const std::int64_t last = slice.fields - 1 + format.first_index;
    if (!scaled) slice.max_index = static_cast<std::int32_t>(std::max<std::int64_t>(last, 0));
}

std::int64_t count_lines(std::string_view text) {
    return loops().text->count(text.data(), static_cast<std::int64_t>(text.size()), '\n').lines;
}

std::int64_t line_at(std::string_view text, std::size_t offset) { return count_lines(text.substr(0, offset)) + 1; }

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
    const auto parse_slice = format.scaling ? (format.dense ? parse_dense<true> : parse_sparse<true>)
                                            : (format.dense ? parse_dense<false> : parse_sparse<false>);
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) parse_slice(slices[i], format, rows);
    });

    // Close the gaps between slices, and stop at the first error.
    std::int64_t row_count = 0, entry_count = 0, comment_lines = 0;
    for (TextSlice& slice : slices) {
        const auto close = [](auto& array, std::int64_t from, std::int64_t to, std::int64_t count) {
            if (from == to || count == 0) return;  // there may be no memory
            std::memmove(array.data() + to, array.data() + from,
                         sizeof(*array.data()) * static_cast<std::size_t>(count));
        };
        const std::int64_t each = format.leading_count, shift = slice.entry_base - entry_count;
        close(rows.leading, slice.row_base * each, row_count * each, slice.rows * each);
        close(rows.indptr, slice.row_base + 1, row_count + 1, slice.rows);
        close(rows.squared_norms, slice.row_base, row_count, slice.rows);
        close(rows.indices, slice.entry_base, entry_count, slice.entries);
        close(rows.values, slice.entry_base, entry_count, slice.entries);
        for (std::int64_t r = 0; shift && r < slice.rows; ++r) rows.indptr[row_count + r + 1] -= shift;
        for (const Gap& gap : slice.comments) {
            rows.add_gap({row_count + gap.row, gap.lines});
            comment_lines += gap.lines;
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
        const char* const stop = line_feed(last, end) + 1;
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
        p = line_feed(p, end) + 1;
        window = 1;
    }
    ParseResult all = parse(good, first_line, format);
    result.rows = std::move(all.rows);
    result.rows.gaps = std::move(around.gaps);
    result.fields = format.dense ? format.fields : 0;
    return result;
}

}  // namespace fastsvm

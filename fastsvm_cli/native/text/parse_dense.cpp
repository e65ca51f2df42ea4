// Parses a slice of dense text, delimited values.
#include <algorithm>

#include "text/blanks.h"
#include "text/error_messages.h"
#include "text/numbers.h"
#include "text/text_slice.h"

namespace fastsvm {

// Leading fields come first; zeros are not stored.
template <bool scaled> void parse_dense(TextSlice& slice, const Format& format, const Target& target) {
    const char* p = slice.begin;
    const char* const end = slice.end;
    const bool blanks = format.delimiter == ' ';
    double* leading = target.leading + slice.row_base * format.leading_count;
    std::int64_t* row_end = target.row_end + slice.row_base;
    double* norm = target.squared_norms + slice.row_base;
    EntryWriter<scaled> entries(slice, target, format);
    std::int32_t max_index = 0;
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
        max_index = std::max(max_index, entries.last_index());
        *norm++ = entries.squared_norm();
        *row_end++ = slice.entry_base + entries.count();
        ++slice.rows;
    }
    slice.entries = entries.count();
    const std::int64_t last = slice.fields - 1 + format.first_index;
    slice.max_index = scaled ? max_index : static_cast<std::int32_t>(std::max<std::int64_t>(last, 0));
    slice.scaling = entries.counts();
    slice.end = p;
}

template void parse_dense<false>(TextSlice& slice, const Format& format, const Target& target);
template void parse_dense<true>(TextSlice& slice, const Format& format, const Target& target);

}  // namespace fastsvm

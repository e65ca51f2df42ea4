#include <algorithm>

#include "text/blanks.h"
#include "text/faults.h"
#include "text/numbers.h"
#include "text/piece.h"

namespace fastsvm {

// Leading fields come first; zeros are not stored.
template <bool scaled> void parse_dense(Piece& piece, const Format& format, const Target& target) {
    const char* p = piece.begin;
    const char* const end = piece.end;
    const bool blanks = format.delimiter == ' ';
    double* leading = target.leading + piece.row_base * format.leading_count;
    std::int64_t* row_end = target.row_end + piece.row_base;
    double* norm = target.squared_norms + piece.row_base;
    EntryWriter<scaled> entries(piece, target, format);
    std::int32_t max_index = 0;
    piece.fields = format.fields;

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
            piece.fault = std::string("a blank line found, expected ") + (format.leading_count ? "a label" : "a value");
        while (piece.fault.empty()) {
            const char* const token = p;
            double value;
            NumberStatus status;
            const char* next = read_double(p, &value, &status);
            const char* const after = skip_spaces(next);
            const bool ends = *after == '\n' || (blanks ? after > next : *after == format.delimiter);
            if (status != NumberStatus::ok || !ends) {
                const bool label_field = field < format.leading_count;
                const char* const wanted = label_field ? "a label" : "a number";
                if (*token == format.delimiter || *token == '\n')
                    piece.fault = std::string("an empty field found, expected ") + wanted;
                else
                    piece.fault = number_fault(status, token, end, wanted, format.delimiter);
                break;
            }
            if (field < format.leading_count) {
                leading[field] = value;
                if (scaled && !scale_label(format, leading)) {
                    piece.fault = label_fault;
                    break;
                }
            } else if (value != 0) {
                const std::int32_t index = static_cast<std::int32_t>(field - format.leading_count + format.first_index);
                if (!entries.put(index, value)) {
                    piece.fault = scaling_fault(*format.scaling, index, quote_word(token, end, format.delimiter));
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
        if (piece.fault.empty() && values < 0) piece.fault = "the end of the line found, expected a label";
        if (piece.fault.empty() && piece.fields >= 0 && values != piece.fields)
            piece.fault = std::to_string(values) + " values found, expected " + std::to_string(piece.fields) +
                          " as in the first row";
        if (!piece.fault.empty()) {
            entries.drop_row();
            p = line;
            break;
        }
        piece.fields = values;
        ++p;
        leading += format.leading_count;
        entries.end_row();
        max_index = std::max(max_index, entries.last_index());
        *norm++ = entries.squared_norm();
        *row_end++ = piece.entry_base + entries.count();
        ++piece.rows;
    }
    piece.entries = entries.count();
    const std::int64_t last = piece.fields - 1 + format.first_index;
    piece.max_index = scaled ? max_index : static_cast<std::int32_t>(std::max<std::int64_t>(last, 0));
    piece.scaling = entries.counts();
    piece.end = p;
}

template void parse_dense<false>(Piece& piece, const Format& format, const Target& target);
template void parse_dense<true>(Piece& piece, const Format& format, const Target& target);

}  // namespace fastsvm

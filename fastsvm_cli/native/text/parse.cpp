#include "text/parse.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "simd/parallel.h"
#include "text/numbers.h"
#include "text/scaling.h"

namespace fastsvm {

namespace {

// The token at p, for a message: printable, short. It ends in front of a blank, a line end, or `delimiter`.
std::string quote(const char* p, const char* end, char delimiter = ' ') {
    std::string out = "'";
    for (const char* q = p; q < end && !ends_word(q) && *q != delimiter; ++q) {
        if (q - p == 40) {
            out += "...";
            break;
        }
        out += (static_cast<unsigned char>(*q) < 32 || static_cast<unsigned char>(*q) > 126) ? '?' : *q;
    }
    return out + "'";
}

const char* control_name(char c) {
    switch (c) {
        case '\r': return "a carriage return";
        case '\v': return "a vertical tab";
        case '\f': return "a form feed";
        default: return nullptr;
    }
}

// What to say of the token at p, which is not what was wanted there. Marked cold, so that it is not compiled into the
// loops that call it.
__attribute__((cold, noinline)) std::string token_fault(const char* p, const char* end, const char* wanted,
                                                        char delimiter = ' ') {
    for (const char* q = p; q < end && !ends_word(q) && *q != delimiter; ++q)
        if (const char* const name = control_name(*q))
            return std::string(name) + " found inside a row, expected blanks or tabs between words";
    return quote(p, end, delimiter) + " found, expected " + wanted;
}

// The same, of a token that should be a number; the number's own status says more (ok: something stands behind it).
__attribute__((cold, noinline)) std::string number_fault(NumberStatus status, const char* p, const char* end,
                                                         const char* wanted, char delimiter = ' ') {
    switch (status) {
        case NumberStatus::not_finite: return quote(p, end, delimiter) + " found, expected a finite number";
        case NumberStatus::overflow: return quote(p, end, delimiter) + " found, too large for a double";
        case NumberStatus::underflow: return quote(p, end, delimiter) + " found, too small for a double";
        default: return token_fault(p, end, wanted, delimiter);
    }
}

// What is wrong with the comment [p, end); empty: nothing.
__attribute__((noinline)) std::string comment_fault(const char* p, const char* end, bool plain) {
    const auto holds = [&](char c) { return std::memchr(p, c, static_cast<std::size_t>(end - p)) != nullptr; };
    if (holds('\0')) return "a NUL byte found, expected text";
    return plain && holds(':') ? "a comment with a ':' found, which LIBSVM takes for index:value" : "";
}

// One thread's share: whole lines, and where their rows go.
struct Piece {
    const char* begin;
    const char* end;
    // Where its rows and entries go: the counts of separators before it leave room for all that may come first.
    std::int64_t row_base = 0, entry_base = 0;
    std::int64_t rows = 0, entries = 0;  // what it wrote
    std::int32_t max_index = 0;
    std::string fault;
    std::int64_t fields = -1;
    ScalingCounts scaling;
    std::vector<Gap> comments;  // before which of its rows
};

struct Target {
    double* leading;
    std::int64_t* row_end;  // per row: entries written so far by its piece, plus the piece's entry_base
    std::int32_t* indices;
    double* values;
    double* squared_norms;
};

struct Counts {
    std::int64_t lines, entries;
};

// Where the entries of one piece go, row by row; scaled on their way, where that is asked for.
template <bool scaled> class EntryWriter {
public:
    EntryWriter(const Piece& piece, const Target& target, const Format& format)
        : indices_(target.indices + piece.entry_base),
          values_(target.values + piece.entry_base),
          scaling_(format.scaling) {}

    void begin_row() {
        row_ = count_;
        squared_norm_ = 0;
        if constexpr (scaled) {
            counts_of_row_ = ScalingCounts();
            shifted_ = scaling_->shifted().data();
        }
    }

    // Indices increase. Returns false where the entry, once it is scaled, is a fault: scaling_fault.
    bool put(std::int32_t index, double value) {
        if constexpr (scaled) {
            ++counts_of_row_.before;
            put_shifted(index);
            const Scaling::Feature* const feature = scaling_->find(index);
            if (!feature) {
                if (scaling_->names(index)) return true;  // a constant feature
                if (index == 0 || scaling_->kind() == Scaling::Kind::standard) return false;
                if (value != 0) counts_of_row_.leave_out(index);
                return true;
            }
            value = scaling_->scale(*feature, value);
            if (!std::isfinite(value)) return false;
            if (value == 0) return true;
        }
        write(index, value);
        return true;
    }

    void end_row() {
        if constexpr (scaled) {
            put_shifted(std::numeric_limits<std::int64_t>::max());
            counts_.add(counts_of_row_);
        }
    }

    void drop_row() { count_ = row_; }

    std::int64_t count() const { return count_; }  // of all rows
    double squared_norm() const { return squared_norm_; }
    // The largest one written in this row.
    std::int32_t last_index() const { return count_ > row_ ? indices_[count_ - 1] : 0; }
    const ScalingCounts& counts() const { return counts_; }

private:
    void write(std::int32_t index, double value) {
        indices_[count_] = index;
        values_[count_++] = value;
        squared_norm_ += value * value;
    }

    // The features in front of `index` that the row does not have, and whose 0 becomes something else.
    void put_shifted(std::int64_t index) {
        const Scaling::Feature* const end = scaling_->shifted().data() + scaling_->shifted().size();
        for (; shifted_ != end && shifted_->index < index; ++shifted_) write(shifted_->index, shifted_->zero);
        if (shifted_ != end && shifted_->index == index) ++shifted_;
    }

    std::int32_t* const indices_;
    double* const values_;
    const Scaling* const scaling_;
    std::int64_t count_ = 0, row_ = 0;
    double squared_norm_ = 0;
    const Scaling::Feature* shifted_ = nullptr;  // the next one
    ScalingCounts counts_, counts_of_row_;
};

// What is wrong with the token at p, an entry that could be read but not scaled.
__attribute__((cold, noinline)) std::string scaling_fault(const Scaling& scaling, std::int32_t index, const char* p,
                                                          const char* end, char delimiter = ' ') {
    if (scaling.find(index)) return quote(p, end, delimiter) + " found, too large for a double once it is scaled";
    if (scaling.kind() == Scaling::Kind::standard)
        return "feature " + std::to_string(index) + " found, expected one of the " + std::to_string(scaling.size()) +
               " that the scale file holds";
    return "index 0 found, which the range file does not hold, expected indices from 1";
}

// The label, scaled where that is asked for. Returns false where there is no such number.
bool scale_label(const Format& format, double* leading) {
    if (!format.scaling || !format.scaling->scales_labels() || format.leading_count != 1) return true;
    *leading = format.scaling->label(*leading);
    return std::isfinite(*leading);
}

constexpr const char* label_fault = "a label found that the range file's y cannot scale, expected a finite result";

// Upper bounds: every row ends in '\n', every entry holds a ':' (or follows a delimiter). Comments can only make them
// generous.
Counts count(const char* p, const char* end, char separator) {
    std::int64_t lines = 0, entries = 0;
    while (p < end) {
        // Blocks of at most 255 keep the counters in bytes, which vectorises well.
        const char* const stop = p + std::min<std::ptrdiff_t>(end - p, 255);
        unsigned char line = 0, entry = 0;
        for (; p < stop; ++p) {
            line = static_cast<unsigned char>(line + (*p == '\n'));
            entry = static_cast<unsigned char>(entry + (*p == separator));
        }
        lines += line;
        entries += entry;
    }
    return {lines, entries};
}

bool is_entry(const char* p) {
    const char* const digits = p;
    while (is_digit(*p)) ++p;
    return p > digits && *p == ':';
}

// The byte behind a `qid:N` (SVMlight's number of a query) at p; null where there is none.
__attribute__((cold, noinline)) const char* after_qid(const char* p) {
    constexpr char name[] = "qid:";
    for (const char* c = name; *c; ++c)
        if (*p++ != *c) return nullptr;
    if (*p == '-' || *p == '+') ++p;
    const char* const digits = p;
    while (is_digit(*p)) ++p;
    return p > digits && ends_word(p) ? p : nullptr;
}

// Whether several labels with commas between them stand at p, and an entry behind them.
__attribute__((cold, noinline)) bool is_multi_label(const char* p) {
    int labels = 0;
    for (bool more = true; more; ++labels) {
        double ignored;
        NumberStatus status;
        p = read_double(p, &ignored, &status);
        if (status != NumberStatus::ok) return false;
        more = *p == ',';
        p += more;
    }
    if (labels < 2 || !ends_word(p)) return false;
    p = skip_blanks(p);
    return is_entry(p) || after_qid(p);
}

// The leading numbers of a row. Returns the byte after them, or null: with a fault, or without one where the line is a
// comment.
const char* read_leading(const char* p, const char* end, const Format& format, double* out, std::string* fault) {
    const char* const what = format.leading_name;
    if (format.leading_count == 0 && format.svmlight && *skip_blanks(p) == '#') return nullptr;
    for (int i = 0; i < format.leading_count; ++i) {
        p = skip_blanks(p);
        if (*p == '\n') {
            *fault = i == 0 ? std::string("a blank line found, expected ") + what
                            : std::string("the end of the line found, expected ") + what;
            return nullptr;
        }
        NumberStatus status;
        const char* const next = read_double(p, out + i, &status);
        if (status != NumberStatus::ok || !ends_word(next)) {
            if (format.svmlight && i == 0 && *p == '#') return nullptr;
            if (format.svmlight && is_multi_label(p)) {
                *fault = "a multi-label line (" + quote(p, end) + ") found, expected one label";
                return nullptr;
            }
            if (status == NumberStatus::ok) status = NumberStatus::not_a_number;
            *fault = number_fault(status, p, end, what);
            if (status == NumberStatus::not_a_number && *next == ':' && std::strcmp(what, "a label") == 0)
                *fault += " (is the data unlabelled?)";
            return nullptr;
        }
        p = next;
    }
    return p;
}

// Past a line at p that is a comment; null with a fault.
__attribute__((cold, noinline)) const char* skip_comment(const char* p, Piece& piece, const Format& format) {
    const char* const stop = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(piece.end - p)));
    piece.fault = comment_fault(p, stop, format.plain_comments);
    if (!piece.fault.empty()) return nullptr;
    if (piece.comments.empty() || piece.comments.back().row != piece.rows) piece.comments.push_back({piece.rows, 0});
    ++piece.comments.back().lines;
    return stop + 1;
}

template <bool scaled> void parse_sparse(Piece& piece, const Format& format, const Target& target) {
    const char* p = piece.begin;
    const char* const end = piece.end;
    double* leading = target.leading + piece.row_base * format.leading_count;
    std::int64_t* row_end = target.row_end + piece.row_base;
    double* norm = target.squared_norms + piece.row_base;
    EntryWriter<scaled> entries(piece, target, format);
    std::int32_t max_index = 0;
    const auto stop = [&](std::string fault) { piece.fault = std::move(fault); };

    while (p < end && (format.max_rows < 0 || piece.rows < format.max_rows)) {
        const char* const line = p;
        p = read_leading(p, end, format, leading, &piece.fault);
        if (!p && piece.fault.empty()) {
            p = skip_comment(line, piece, format);
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
            stop(label_fault);
            good = false;
        }
        while (good) {
            while (is_blank(*p)) ++p;
            const char* const token = p;
            if (!is_digit(*p)) {
                p = skip_blanks(p);
                if (*p == '\n') break;
                if (*p == '#') {
                    p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
                    stop(comment_fault(token, p, format.plain_comments));
                    good = piece.fault.empty();
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
                stop(quote(token, end) + " found, expected an index of at most 2147483647");
                good = false;
                break;
            }
            if (p == digits || *p != ':') {
                stop(token_fault(token, end, "index:value"));
                good = false;
                break;
            }
            if (index <= last) {
                stop("index " + std::to_string(index) + " found after index " + std::to_string(last) +
                     ", expected increasing indices");
                good = false;
                break;
            }
            NumberStatus status;
            double value;
            const char* const next = read_double(p + 1, &value, &status);
            if (status != NumberStatus::ok || !ends_word(next)) {
                stop(number_fault(status, token, end, "index:value"));
                good = false;
                break;
            }
            if (!entries.put(static_cast<std::int32_t>(index), value)) {
                stop(scaling_fault(*format.scaling, static_cast<std::int32_t>(index), token, end));
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
        max_index = std::max(max_index, entries.last_index());
        leading += format.leading_count;
        *norm++ = entries.squared_norm();
        *row_end++ = piece.entry_base + entries.count();
        ++piece.rows;
    }
    piece.entries = entries.count();
    piece.scaling = entries.counts();
    piece.max_index = max_index;
    piece.end = p;
}

// Dense text: fields between delimiters, the leading ones first; zeros are not stored.
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
        std::int64_t field = 0;  // counts the leading ones too
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
                const std::int32_t index = static_cast<std::int32_t>(field - format.leading_count + 1);
                if (!entries.put(index, value)) {
                    piece.fault = scaling_fault(*format.scaling, index, token, end, format.delimiter);
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
    piece.max_index = scaled ? max_index : static_cast<std::int32_t>(std::max<std::int64_t>(piece.fields, 0));
    piece.scaling = entries.counts();
    piece.end = p;
}

std::vector<Piece> split(const char* text, std::size_t size, const Format& format) {
    // A piece of a quarter megabyte repays its thread. One piece when a row count stops it, or when the first row
    // decides the width.
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

std::int64_t count_lines(const char* text, std::size_t size) { return count(text, text + size, '\n').lines; }

ParseResult parse(const char* text, std::size_t size, std::int64_t first_line, const Format& format) {
    ParseResult result;
    Rows& rows = result.rows;
    rows.leading_count = format.leading_count;
    rows.first_line = first_line;

    std::vector<Piece> pieces = split(text, size, format);
    const std::int64_t parts = static_cast<std::int64_t>(pieces.size());
    const char separator = format.dense ? format.delimiter : ':';
    std::vector<Counts> counts(pieces.size());
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            counts[i] = count(pieces[i].begin, pieces[i].end, separator);
            // Dense: a row has one field more than delimiters; blanks count every field, whatever the kind of blank.
            if (format.dense)
                counts[i].entries =
                    separator == ' ' ? (pieces[i].end - pieces[i].begin) / 2 + 1 : counts[i].entries + counts[i].lines;
            if (format.scaling)
                counts[i].entries += counts[i].lines * static_cast<std::int64_t>(format.scaling->shifted().size());
        }
    });
    std::int64_t row_base = 0, entry_base = 0;
    for (std::int64_t i = 0; i < parts; ++i) {
        pieces[i].row_base = row_base;
        pieces[i].entry_base = entry_base;
        row_base += counts[i].lines;
        entry_base += counts[i].entries;
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

    // Close the gaps that comments left, and stop at the first fault.
    std::int64_t row_count = 0, entry_count = 0, comment_lines = 0;
    for (Piece& piece : pieces) {
        if (piece.row_base != row_count) {
            const auto close = [&](auto* of_rows, std::int64_t each) {
                if (piece.rows * each == 0) return;  // no memory need be there then
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
    return result;
}

}  // namespace fastsvm

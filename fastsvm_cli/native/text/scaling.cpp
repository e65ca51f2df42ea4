#include "text/scaling.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "text/numbers.h"
#include "text/text_slice.h"

namespace fastsvm {

namespace {

constexpr int significant_digits = 6;

double round_by_text(double value) {
    char text[number_text_max + 1];
    *write_g(text, value, significant_digits) = '\n';
    double out = value;
    NumberStatus status;
    read_double(text, &out, &status);
    return out;
}

// The first four words of a line; four are too many.
struct Words {
    const char* begin[4];
    const char* end[4];
    int count = 0;
};

Words words_of(const char* p, const char* line_end) {
    Words words;
    while (words.count < 4) {
        while (p < line_end && (is_blank(*p) || *p == '\r')) ++p;
        if (p == line_end) break;
        words.begin[words.count] = p;
        while (p < line_end && !is_blank(*p) && *p != '\r') ++p;
        words.end[words.count++] = p;
    }
    return words;
}

bool read_number(const Words& words, int at, double* out) {
    NumberStatus status;
    return read_double(words.begin[at], out, &status) == words.end[at] && status == NumberStatus::ok;
}

struct Lines {
    const char* p;
    const char* const end;
    std::int64_t number = 0;
    const char* begin = nullptr;
    const char* stop = nullptr;
    Words words = {};

    bool next() {
        ++number;
        if (p == end) {
            begin = stop = end;
            words = Words();
            return false;
        }
        begin = p;
        stop = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
        p = stop + 1;
        words = words_of(begin, stop);
        return true;
    }

    std::string instead(const char* expected) const {
        const std::string found = begin == end       ? "the end of the file"
                                  : words.count == 0 ? "a blank line"
                                                     : quote(words.begin[0], words.end[words.count - 1]);
        return found + " found, expected " + expected;
    }

    // Reads a line of two numbers. Returns the error.
    std::string two(double* first, double* second, const char* expected) {
        next();
        return words.count == 2 && read_number(words, 0, first) && read_number(words, 1, second) ? ""
                                                                                                 : instead(expected);
    }

    bool only_blank_lines_left() const {
        for (const char* q = p; q < end; ++q)
            if (!is_blank(*q) && *q != '\r' && *q != '\n') return false;
        return true;
    }
};

bool is_word(const Words& words, char letter) {
    return words.count == 1 && words.end[0] - words.begin[0] == 1 && *words.begin[0] == letter;
}

}  // namespace

double round_to_six_digits(double value) {
    const double size = std::fabs(value);
    // Move six digits before the point, with an error below 1e-9, round, and move the point back in one rounding, as a
    // correct reader does. That close to a tie, use the text.
    if (!(size >= 1e-16 && size < 1e5)) return value == 0 ? value : round_by_text(value);
    int shift = 0;  // size * 10^shift has six digits before the point, or is a power of ten up to rounding
    if (size >= 0.1) {
        shift = size >= 1e2 ? (size >= 1e4 ? 1 : size >= 1e3 ? 2 : 3) : size >= 1e1 ? 4 : size >= 1 ? 5 : 6;
    } else {
        shift = 7;
        while (size * power_of_ten[shift] < 1e5) ++shift;
    }
    const double digits = size * power_of_ten[shift];
    const double whole = static_cast<double>(static_cast<std::int64_t>(digits + 0.5));
    if (std::fabs(std::fabs(digits - whole) - 0.5) < 1e-8) return round_by_text(value);
    return std::copysign(whole / power_of_ten[shift], value);
}

std::string Scaling::read_range(const char* p, const char* end, std::int64_t* line) {
    Lines lines{p, end};
    const auto fail = [&](std::string why) {
        *line = lines.number;
        return why;
    };
    lines.next();
    if (is_word(lines.words, 'y')) {
        scales_labels_ = true;
        std::string error = lines.two(&label_limits_.lower, &label_limits_.upper, "two numbers, the limits of y");
        if (error.empty() && !(label_limits_.lower < label_limits_.upper))
            error = lines.instead("a lower limit below the upper one");
        if (error.empty()) error = lines.two(&label_low_, &label_high_, "two numbers, the least and the largest label");
        if (error.empty() && !(label_low_ <= label_high_)) error = lines.instead("the least label before the largest");
        if (!error.empty()) return fail(error);
        lines.next();
    }
    if (!is_word(lines.words, 'x')) return fail(lines.instead("x alone, as svm-scale -s writes"));
    std::string error = lines.two(&limits_.lower, &limits_.upper, "two numbers, the limits of x");
    if (error.empty() && !(limits_.lower < limits_.upper)) error = lines.instead("a lower limit below the upper one");
    if (!error.empty()) return fail(error);
    rounded_ = {round_to_six_digits(limits_.lower), round_to_six_digits(limits_.upper)};
    std::int64_t last = -1;
    while (!lines.only_blank_lines_left()) {
        lines.next();
        const Words& words = lines.words;
        Feature feature{};
        double index = -1;
        if (words.count != 3 || !read_number(words, 1, &feature.low) || !read_number(words, 2, &feature.high) ||
            !std::all_of(words.begin[0], words.end[0], is_digit) || !read_number(words, 0, &index))
            return fail(lines.instead("an index, its least and its largest value"));
        if (index > std::numeric_limits<std::int32_t>::max())
            return fail(quote(words.begin[0], words.end[0]) + " found, expected an index of at most 2147483647");
        feature.index = static_cast<std::int32_t>(index);
        if (feature.index <= last)
            return fail("index " + std::to_string(feature.index) + " found after index " + std::to_string(last) +
                        ", expected increasing indices");
        if (feature.low > feature.high) return fail(lines.instead("the least value before the largest"));
        last = feature.index;
        if (feature.low == feature.high) {
            constant_.push_back(feature.index);
            continue;
        }
        feature.zero = scale(feature, 0);
        if (!std::isfinite(feature.zero)) return fail(lines.instead("a range that 0 can be scaled with"));
        features_.push_back(feature);
    }
    return "";
}

std::string Scaling::read_standard(const char* p, const char* end, std::int64_t* line) {
    kind_ = Kind::standard;
    Lines lines{p, end};
    while (!lines.only_blank_lines_left()) {
        Feature feature{};
        std::string error = lines.two(&feature.low, &feature.high, "two numbers, a center and a scale");
        if (error.empty() && !(feature.high > 0)) error = lines.instead("a scale above 0 after the center");
        *line = lines.number;
        if (!error.empty()) return error;
        feature.index = static_cast<std::int32_t>(lines.number);
        feature.zero = scale(feature, 0);
        if (!std::isfinite(feature.zero)) return lines.instead("a scale that 0 can be divided with");
        features_.push_back(feature);
    }
    return "";
}

Scaling::Read Scaling::read(std::string_view text) {
    Read out;
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    Lines first{begin, end};
    first.next();
    double center, scale;
    const bool standard =
        first.words.count == 2 && read_number(first.words, 0, &center) && read_number(first.words, 1, &scale);
    if (!standard && !is_word(first.words, 'x') && !is_word(first.words, 'y')) {
        out.error = first.instead("x or y, as svm-scale -s writes, or a center and a scale, as R's write.svm");
        out.line = 1;
        return out;
    }
    Scaling& scaling = out.scaling;
    out.error = standard ? scaling.read_standard(begin, end, &out.line) : scaling.read_range(begin, end, &out.line);
    scaling.finish();
    return out;
}

std::string Scaling::read_labels(std::string_view text, std::int64_t* line) {
    Lines lines{text.data(), text.data() + text.size()};
    std::string error = lines.two(&label_low_, &label_high_, "two numbers, the center and the scale of y");
    if (error.empty() && !(label_high_ > 0)) error = lines.instead("a scale above 0 after the center");
    if (error.empty() && !lines.only_blank_lines_left()) {
        lines.next();
        error = lines.instead("the end of the file");
    }
    *line = lines.number;
    scales_labels_ = true;
    label_kind_ = Kind::standard;
    return error;
}

Scaling Scaling::unrounded() const {
    Scaling out = *this;
    out.rounds_ = false;
    out.rounded_ = limits_;
    for (Feature& feature : out.features_) feature.zero = out.scale(feature, 0);
    out.finish();
    return out;
}

Scaling::Line Scaling::line(const Feature& feature) const {
    if (kind_ == Kind::standard) return {1 / feature.high, -feature.low / feature.high};
    const double slope = (limits_.upper - limits_.lower) / (feature.high - feature.low);
    return {slope, limits_.lower - (limits_.upper - limits_.lower) * feature.low / (feature.high - feature.low)};
}

std::optional<Scaling::Line> Scaling::label_line() const {
    if (!scales_labels_) return std::nullopt;
    if (label_kind_ == Kind::standard) return Line{1 / label_high_, -label_low_ / label_high_};
    const double slope = (label_limits_.upper - label_limits_.lower) / (label_high_ - label_low_);
    return Line{slope, label_limits_.lower - slope * label_low_};
}

Scaling Scaling::features_alone() const {
    Scaling out = *this;
    out.scales_labels_ = false;
    return out;
}

Scaling::LabelsBack Scaling::labels_back() const {
    if (label_kind_ == Kind::standard) return {0, label_high_, label_low_};
    return {label_limits_.lower, (label_high_ - label_low_) / (label_limits_.upper - label_limits_.lower), label_low_};
}

void Scaling::finish() {
    shifted_.clear();
    // svm-scale adds missing features from 1 on; index 0 is scaled only where it occurs.
    for (const Feature& feature : features_)
        if (feature.zero != 0 && feature.index > 0) shifted_.push_back(feature);
    if (features_.empty()) return;
    // Limit the table to a few times the memory of the features.
    const std::size_t width = static_cast<std::size_t>(features_.back().index) + 1;
    if (width > 16 * features_.size() + (1 << 16)) return;
    positions_.assign(width, -1);
    for (std::size_t i = 0; i < features_.size(); ++i)
        positions_[static_cast<std::size_t>(features_[i].index)] = static_cast<std::int32_t>(i);
}

const Scaling::Feature* Scaling::search(std::int32_t index) const {
    const auto at =
        std::lower_bound(features_.begin(), features_.end(), index,
                         [](const Feature& feature, std::int32_t requested) { return feature.index < requested; });
    return at == features_.end() || at->index != index ? nullptr : &*at;
}

bool Scaling::names(std::int32_t index) const {
    return find(index) || std::binary_search(constant_.begin(), constant_.end(), index);
}

double Scaling::label(double value) const {
    if (label_kind_ == Kind::standard) return (value - label_low_) / label_high_;
    if (value == label_low_) return label_limits_.lower;
    if (value == label_high_) return label_limits_.upper;
    return label_limits_.lower +
           (label_limits_.upper - label_limits_.lower) * (value - label_low_) / (label_high_ - label_low_);
}

std::optional<std::pair<std::int64_t, std::string>> scale_rows(const Scaling& scaling, const Rows& rows, Rows& out) {
    const std::int64_t shifted = static_cast<std::int64_t>(scaling.shifted().size());
    out.reset(rows.rows, rows.indices.size() + rows.rows * shifted, rows.leading_count);
    out.first_line = rows.first_line;
    out.gaps = rows.gaps;
    std::copy_n(rows.leading.data(), rows.leading.size(), out.leading.data());
    Format format;
    format.scaling = &scaling;
    TextSlice all{};
    EntryWriter<true> entries(
        all, {nullptr, out.indptr.data() + 1, out.indices.data(), out.values.data(), out.squared_norms.data()}, format);
    std::optional<std::pair<std::int64_t, std::string>> error;
    for (std::int64_t r = 0; r < rows.rows && !error; ++r) {
        entries.begin_row();
        for (std::int64_t e = rows.begin(r); e < rows.end(r) && !error; ++e)
            if (!entries.put(rows.indices[e], rows.values[e]))
                error = {r, scaling_error(scaling, rows.indices[e], "a value")};
        if (!error) entries.end_row();
    }
    out.truncate(all.rows);
    out.max_index = all.max_index;
    out.scaling = all.scaling;
    return error;
}

}  // namespace fastsvm

#include "text/scaling.h"

#include <cmath>
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

bool read_number(std::string_view word, double& out) {
    NumberStatus status;
    const char* const end = word.data() + word.size();
    return read_double(word.data(), &out, &status) == end && status == NumberStatus::ok;
}

// The lines of a file. Throws ScalingFileError.
struct Lines {
    std::string_view left;
    std::int64_t number = 0;
    bool at_end = false;
    std::vector<std::string_view> words = {};  // at most four, which are too many

    void next() {
        ++number;
        at_end = left.empty();
        const std::string_view line = left.substr(0, left.find('\n'));
        left.remove_prefix(std::min(line.size() + 1, left.size()));
        words = split_words(line, " \t\r");
        if (words.size() > 4) words.resize(4);
    }

    [[noreturn]] void fail(const std::string& why) const { throw ScalingFileError(why, number); }

    void require(bool good, const char* expected) const {
        if (good) return;
        const std::string found = at_end          ? "the end of the file"
                                  : words.empty() ? "a blank line"
                                                  : quote(words[0].data(), words.back().data() + words.back().size());
        fail(found + " found, expected " + expected);
    }

    bool is_word(std::string_view word) const { return words.size() == 1 && words[0] == word; }

    bool two(double& first, double& second) const {
        return words.size() == 2 && read_number(words[0], first) && read_number(words[1], second);
    }

    // Reads a line of two numbers.
    void next_two(double& first, double& second, const char* expected) {
        next();
        require(two(first, second), expected);
    }

    void next_limits(double& lower, double& upper, const char* expected) {
        next_two(lower, upper, expected);
        require(lower < upper, "a lower limit below the upper one");
    }

    void next_center(double& center, double& scale, const char* expected) {
        next_two(center, scale, expected);
        require(scale > 0, "a scale above 0 after the center");
    }

    bool only_blank_lines_left() const { return left.find_first_not_of(" \t\r\n") == std::string_view::npos; }
};

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

void Scaling::read_range(std::string_view text) {
    Lines lines{text};
    lines.next();
    if (lines.is_word("y")) {
        scales_labels_ = true;
        lines.next_limits(label_limits_.lower, label_limits_.upper, "two numbers, the limits of y");
        lines.next_two(label_low_, label_high_, "two numbers, the least and the largest label");
        lines.require(label_low_ <= label_high_, "the least label before the largest");
        lines.next();
    }
    lines.require(lines.is_word("x"), "x alone, as svm-scale -s writes");
    lines.next_limits(limits_.lower, limits_.upper, "two numbers, the limits of x");
    rounded_ = {round_to_six_digits(limits_.lower), round_to_six_digits(limits_.upper)};
    std::int64_t last = -1;
    while (!lines.only_blank_lines_left()) {
        lines.next();
        const std::vector<std::string_view>& words = lines.words;
        Feature feature{};
        double index = -1;
        lines.require(words.size() == 3 && read_number(words[1], feature.low) && read_number(words[2], feature.high) &&
                          std::all_of(words[0].begin(), words[0].end(), is_digit) && read_number(words[0], index),
                      "an index, its least and its largest value");
        if (index > std::numeric_limits<std::int32_t>::max())
            lines.fail(quote(words[0].data(), words[0].data() + words[0].size()) +
                       " found, expected an index of at most 2147483647");
        feature.index = static_cast<std::int32_t>(index);
        if (feature.index <= last) lines.fail(index_error(feature.index, last));
        lines.require(feature.low <= feature.high, "the least value before the largest");
        last = feature.index;
        if (feature.low == feature.high) {
            constant_.push_back(feature.index);
            continue;
        }
        feature.zero = scale(feature, 0);
        lines.require(std::isfinite(feature.zero), "a range that 0 can be scaled with");
        features_.push_back(feature);
    }
}

void Scaling::read_standard(std::string_view text) {
    kind_ = Kind::standard;
    Lines lines{text};
    while (!lines.only_blank_lines_left()) {
        Feature feature{};
        lines.next_center(feature.low, feature.high, "two numbers, a center and a scale");
        feature.index = static_cast<std::int32_t>(lines.number);
        feature.zero = scale(feature, 0);
        lines.require(std::isfinite(feature.zero), "a scale that 0 can be divided with");
        features_.push_back(feature);
    }
}

Scaling Scaling::read(std::string_view text) {
    Scaling out;
    Lines first{text};
    first.next();
    double center, scale;
    const bool standard = first.two(center, scale);
    first.require(standard || first.is_word("x") || first.is_word("y"),
                  "x or y, as svm-scale -s writes, or a center and a scale, as R's write.svm");
    standard ? out.read_standard(text) : out.read_range(text);
    out.finish();
    return out;
}

void Scaling::read_labels(std::string_view text) {
    Lines lines{text};
    lines.next_center(label_low_, label_high_, "two numbers, the center and the scale of y");
    if (!lines.only_blank_lines_left()) {
        lines.next();
        lines.require(false, "the end of the file");
    }
    scales_labels_ = true;
    label_kind_ = Kind::standard;
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
    EntryWriter<true> entries(all, out, format);
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

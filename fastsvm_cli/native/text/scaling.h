// Scaling: the range file of svm-scale, or the scale files of R's e1071, and what they do to numbers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/rows.h"

namespace fastsvm {

// The value that strtod reads from %g (six significant digits), as between svm-scale and svm-predict.
double round_to_six_digits(double value);

// An error in a line of a scaling's file.
struct ScalingFileError : std::runtime_error {
    ScalingFileError(const std::string& why, std::int64_t line) : std::runtime_error(why), line(line) {}
    std::int64_t line;
};

// Scaling of features and labels, as by `svm-scale -r` or R's e1071, from a file's text. Once read, it is immutable and
// thread-safe.
class Scaling {
public:
    enum class Kind {
        range,    // of `svm-scale -s`: [low, high] -> [lower, upper], to six digits
        standard  // of e1071's write.svm: (value - center) / scale, in double precision
    };

    // A scaled feature. Others are dropped from rows (range) or refused (standard).
    struct Feature {
        std::int32_t index;
        double low, high;  // standard: center, scale
        double zero;       // scaled value of 0, also in rows without the feature
    };

    struct Limits {
        double lower = 0, upper = 0;  // scaled values of low and high
    };

    // Reads a file of either kind. text: ends in '\n'. Throws ScalingFileError.
    static Scaling read(std::string_view text);

    // Adds e1071's `yscale.file`: center and scale of labels. Throws ScalingFileError.
    void read_labels(std::string_view text);

    // A copy that does not round to six digits.
    Scaling unrounded() const;

    // The scaled value of x before rounding: slope x + offset.
    struct Line {
        double slope, offset;
    };
    Line line(const Feature& feature) const;
    std::optional<Line> label_line() const;  // none: labels are not scaled

    // A copy that does not scale labels.
    Scaling features_alone() const;

    // The raw label of a scaled y: to + (y - from) * scale.
    struct LabelsBack {
        double from, scale, to;
    };
    LabelsBack labels_back() const;

    Kind kind() const { return kind_; }
    bool scales_labels() const { return scales_labels_; }
    double label(double value) const;
    // How a feature is scaled; null if it is not.
    const Feature* find(std::int32_t index) const {
        if (!positions_.empty()) {
            if (static_cast<std::size_t>(index) >= positions_.size()) return nullptr;
            const std::int32_t position = positions_[static_cast<std::size_t>(index)];
            return position < 0 ? nullptr : &features_[static_cast<std::size_t>(position)];
        }
        return search(index);
    }
    // The scaled value; not finite on overflow.
    double scale(const Feature& feature, double value) const {
        if (kind_ == Kind::standard) return (value - feature.low) / feature.high;
        if (value == feature.low) return rounded_.lower;
        if (value == feature.high) return rounded_.upper;
        // svm-scale's order of operations.
        const double scaled =
            limits_.lower + (limits_.upper - limits_.lower) * (value - feature.low) / (feature.high - feature.low);
        return rounds_ ? round_to_six_digits(scaled) : scaled;
    }
    const std::vector<Feature>& features() const { return features_; }
    // Features whose 0 scales to another value: every row has them.
    const std::vector<Feature>& shifted() const { return shifted_; }
    // Whether the file names the feature. Constant features are dropped silently.
    bool names(std::int32_t index) const;
    std::int32_t max_index() const {  // named; or 0
        return std::max(features_.empty() ? 0 : features_.back().index, constant_.empty() ? 0 : constant_.back());
    }
    std::int64_t size() const { return static_cast<std::int64_t>(features_.size()); }

private:
    void read_range(std::string_view text);
    void read_standard(std::string_view text);
    const Feature* search(std::int32_t index) const;
    void finish();

    Kind kind_ = Kind::range;
    Limits limits_, rounded_;
    bool rounds_ = true;
    bool scales_labels_ = false;
    Limits label_limits_;                    // scaled values of the least and largest label
    double label_low_ = 0, label_high_ = 0;  // these labels; standard: center, scale
    Kind label_kind_ = Kind::range;
    std::vector<Feature> features_, shifted_;  // by index
    std::vector<std::int32_t> constant_;       // indices, increasing
    std::vector<std::int32_t> positions_;      // index to position in features_, or -1; empty if indices are far apart
};

// Scales the features of rows from arrays, as the parser scales text, into `out`, up to the first row that cannot be
// scaled: returns its number and why, if any. Leading numbers stay unscaled.
std::optional<std::pair<std::int64_t, std::string>> scale_rows(const Scaling& scaling, const Rows& rows, Rows& out);

}  // namespace fastsvm

// The scaling of a data file: what `svm-scale -r` does to its rows, or R's e1071, done while they are read.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fastsvm {

// The double that printf's %g (six significant digits) writes and strtod reads back: what becomes of a value that
// svm-scale writes and svm-predict reads.
double round_to_six_digits(double value);

// Where features, and labels, go. Made from the text of a file; never changed after that, so that threads share it.
class Scaling {
public:
    enum class Kind {
        range,    // what `svm-scale -s` writes: [low, high] -> [lower, upper], to six digits, as svm-scale does
        standard  // what write.svm of R's e1071 writes: (value - center) / scale, in double precision
    };

    // Of a feature that is scaled; all others are left out of the rows (range), or refused (standard).
    struct Feature {
        std::int32_t index;
        double low, high;  // standard: center, scale
        double zero;       // what 0 becomes, and so the value of the feature where a row does not have it
    };

    struct Limits {
        double lower = 0, upper = 0;  // what low and high become
    };

    // Text that ends in '\n'. On a fault, `fault` says what was found and what was expected, and `line` where.
    struct Read;
    static Read read(const char* text, std::size_t size);

    // Takes the labels' part from the text of a file of R's e1071 with one center and scale: its `yscale.file`. Returns
    // what is wrong with it, and where.
    std::string read_labels(const char* text, std::size_t size, std::int64_t* line);

    // The same in double precision: no value is rounded to six digits.
    Scaling unrounded() const;

    // slope x + offset, which is what a value x becomes but for rounding.
    struct Line {
        double slope, offset;
    };
    Line line(const Feature& feature) const;
    Line label_line() const;

    // The same of features alone: labels stay as they are.
    Scaling features_alone() const;

    // The raw label of a scaled one y: to + (y - from) * scale.
    struct LabelsBack {
        double from, scale, to;
    };
    LabelsBack labels_back() const;

    Kind kind() const { return kind_; }
    bool scales_labels() const { return scales_labels_; }
    double label(double value) const;
    // Null: the feature is not scaled.
    const Feature* find(std::int32_t index) const {
        if (!places_.empty()) {
            if (static_cast<std::size_t>(index) >= places_.size()) return nullptr;
            const std::int32_t place = places_[static_cast<std::size_t>(index)];
            return place < 0 ? nullptr : &features_[static_cast<std::size_t>(place)];
        }
        return search(index);
    }
    // Not finite where it is too large for a double.
    double scale(const Feature& feature, double value) const {
        if (kind_ == Kind::standard) return (value - feature.low) / feature.high;
        if (value == feature.low) return rounded_.lower;
        if (value == feature.high) return rounded_.upper;
        // svm-scale's own order of operations.
        const double scaled =
            limits_.lower + (limits_.upper - limits_.lower) * (value - feature.low) / (feature.high - feature.low);
        return rounds_ ? round_to_six_digits(scaled) : scaled;
    }
    const std::vector<Feature>& features() const { return features_; }
    // The features whose 0 becomes something else: every row has them.
    const std::vector<Feature>& shifted() const { return shifted_; }
    // Features that the file names; with them, constant ones, which are left out of the rows without a word.
    bool names(std::int32_t index) const;
    std::int32_t max_index() const {  // of those features; 0 if there is none
        return std::max(features_.empty() ? 0 : features_.back().index, constant_.empty() ? 0 : constant_.back());
    }
    std::int64_t size() const { return static_cast<std::int64_t>(features_.size()); }

private:
    std::string read_range(const char* p, const char* end, std::int64_t* line);
    std::string read_standard(const char* p, const char* end, std::int64_t* line);
    const Feature* search(std::int32_t index) const;
    void finish();

    Kind kind_ = Kind::range;
    Limits limits_, rounded_;
    bool rounds_ = true;
    bool scales_labels_ = false;
    Limits label_limits_;                    // what the least and the largest label become
    double label_low_ = 0, label_high_ = 0;  // those labels; standard: center, scale
    Kind label_kind_ = Kind::range;
    std::vector<Feature> features_, shifted_;  // by index
    std::vector<std::int32_t> constant_;       // indices, increasing
    std::vector<std::int32_t> places_;         // of an index in features_, or -1; empty where indices are far apart
};

struct Scaling::Read {
    Scaling scaling;
    std::string fault;
    std::int64_t line = 0;
};

}  // namespace fastsvm

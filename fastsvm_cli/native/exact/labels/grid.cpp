#include "exact/labels/grid.h"

#include <algorithm>
#include <limits>

namespace fastsvm {

namespace {

// Files have six digits or more: differences, and steps from them, err by less than this times the largest value.
constexpr double rounding_share = 2e-5;
constexpr std::int64_t sample_entries = 4096, sample_rows = 8;
constexpr std::int64_t most_outliers = 256;
constexpr int most_attempts = 16;

}  // namespace

struct Grid::Sample {
    std::vector<double> differences;  // positive
    double largest_value = 0;
    struct Anchor {
        std::int32_t index;
        double value;
    };
    std::vector<Anchor> anchors;  // that are not zero

    // Takes some of the vectors. A column's anchor is zero if one of them has no entry or a zero there, else one of its
    // values.
    explicit Sample(const Rows& vectors) {
        const std::int64_t per_row = std::max<std::int64_t>(1, vectors.indices.size() / vectors.rows);
        const std::int64_t count = std::min(vectors.rows, std::max(sample_rows, sample_entries / per_row));
        std::vector<Anchor> entries;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t row = i * vectors.rows / count;
            for (std::int64_t e = vectors.begin(row); e < vectors.end(row); ++e)
                if (vectors.values[e] != 0) entries.push_back({vectors.indices[e], vectors.values[e]});
        }
        std::stable_sort(entries.begin(), entries.end(),
                         [](const Anchor& a, const Anchor& b) { return a.index < b.index; });
        for (auto first = entries.begin(); first != entries.end();) {
            const auto last =
                std::find_if(first, entries.end(), [&](const Anchor& a) { return a.index != first->index; });
            const double anchor = last - first < count ? 0.0 : first->value;
            if (anchor != 0) anchors.push_back(*first);
            for (auto entry = first; entry != last; ++entry) {
                largest_value = std::max(largest_value, std::fabs(entry->value));
                if (entry->value != anchor) differences.push_back(std::fabs(entry->value - anchor));
            }
            first = last;
        }
    }
};

// Finds the largest step that divides all differences: the largest difference divided by a whole number.
bool Grid::fit(const Sample& sample) {
    std::vector<double> differences = sample.differences;
    std::sort(differences.begin(), differences.end());
    const double largest = differences.empty() ? 1.0 : differences.back();
    std::vector<double> distinct = differences;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::int32_t parts = 1; parts < most_levels; ++parts) {
        step_ = largest / parts;
        tolerance_ = std::min(step_ / 16, rounding_share * std::max(sample.largest_value, largest));
        const auto off = [&](double difference) {
            return std::fabs(difference - step_ * std::nearbyint(difference / step_));
        };
        if (!std::all_of(distinct.begin(), distinct.end(), [&](double v) { return off(v) <= tolerance_; })) continue;
        double squares = 0, products = 0, numbers = 0;
        for (double v : differences) {
            const double k = std::nearbyint(v / step_);
            squares += off(v) * off(v), products += k * v, numbers += k * k;
        }
        // If values are rounded, so is the largest: use least squares.
        if (!(std::sqrt(squares) <= 1e-14 * std::sqrt(numbers) * step_)) step_ = products / numbers;
        per_step_ = 1 / step_;
        return std::isfinite(per_step_) && std::isfinite(step_) && step_ > 0;
    }
    return false;
}

// Sets numbers and offsets. If vectors are off the grid, false; their differences are added to the sample.
bool Grid::cover(const Rows& vectors, const Features& features, Sample& sample) {
    const std::int64_t d = features.size();
    std::vector<std::int64_t> count(static_cast<std::size_t>(d), 0);
    std::vector<std::int32_t> least(static_cast<std::size_t>(d), std::numeric_limits<std::int32_t>::max());
    std::vector<std::int32_t> most(static_cast<std::size_t>(d), std::numeric_limits<std::int32_t>::min());
    for (Column& c : columns_) c = {c.anchor, 0, -1};  // for now, numbers count from the anchor
    std::int64_t outliers = 0;
    const auto outlier = [&](std::int64_t column, double value) {
        sample.differences.push_back(std::fabs(value - columns_[static_cast<std::size_t>(column)].anchor));
        sample.largest_value = std::max(sample.largest_value, std::fabs(value));
        return ++outliers >= most_outliers;
    };
    const auto meet = [&](std::int64_t column, std::int32_t number) {
        least[column] = std::min(least[column], number);
        most[column] = std::max(most[column], number);
    };
    const Quantizer quantizer = this->quantizer();
    std::int32_t number = 0;
    double off = 0, largest = 0;
    for (std::int64_t row = 0; row < vectors.rows; ++row) {
        double squares = 0;
        for (std::int64_t e = vectors.begin(row); e < vectors.end(row); ++e) {
            const std::int64_t column = features.column(vectors.indices[e]);
            ++count[column];
            if (quantizer.quantize(column, vectors.values[e], number, off)) {
                meet(column, number);
                squares += off * off;
            } else if (outlier(column, vectors.values[e])) {
                return false;
            }
        }
        largest = std::max(largest, squares);
    }
    std::vector<std::int32_t> zeros(static_cast<std::size_t>(d), -most_levels - 1);  // none
    zeros_off_ = 0;
    for (std::int64_t column = 0; column < d; ++column) {
        const bool on_grid = quantizer.quantize(column, 0.0, number, off);
        if (count[column] < vectors.rows) {  // some vector has a zero here
            if (on_grid)
                meet(column, number);
            else
                outlier(column, 0.0);
        } else if (!on_grid || off > 0x1p-40 * step_) {
            continue;  // rows without the entry are off the grid
        }
        zeros[column] = number;
        zeros_off_ += off * off;
    }
    if (outliers) return false;
    levels_ = 1;
    for (std::int64_t column = 0; column < d; ++column) levels_ = std::max(levels_, most[column] - least[column] + 1);
    const std::int32_t limit = levels_ > 2 ? most_levels : 2;
    numbers_ = 1;
    for (std::int64_t column = 0; column < d; ++column) {
        Column& c = columns_[static_cast<std::size_t>(column)];
        c.least = least[column];
        if (zeros[column] >= -most_levels) {
            // Rows may have zeros that no vector has.
            if (zeros[column] < c.least && most[column] - zeros[column] < limit) c.least = zeros[column];
            const std::int32_t zero = zeros[column] - c.least;
            if (zero >= 0 && zero < limit) c.zero = zero;
        }
        numbers_ = std::max({numbers_, most[column] - c.least + 1, c.zero + 1});
    }
    off_ = std::sqrt(largest) * (1 + 1e-9);
    return true;
}

bool Grid::possible(const Rows& vectors) { return vectors.rows > 0 && Grid().fit(Sample(vectors)); }

std::optional<Grid> Grid::of(const Rows& vectors, const Features& features) {
    if (vectors.rows == 0) return std::nullopt;
    Sample sample(vectors);
    Grid grid;
    grid.columns_.resize(static_cast<std::size_t>(features.size()));
    for (const Sample::Anchor& anchor : sample.anchors)
        grid.columns_[static_cast<std::size_t>(features.column(anchor.index))].anchor = anchor.value;
    // Failed attempts add differences that the step does not divide.
    for (int attempt = 0; attempt < most_attempts && grid.fit(sample); ++attempt) {
        if (!grid.cover(vectors, features, sample)) continue;
        if (grid.levels_ > most_levels) return std::nullopt;
        return grid;
    }
    return std::nullopt;
}

}  // namespace fastsvm

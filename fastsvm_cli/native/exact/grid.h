// Features that take few values on one grid: binary ones, levels of gray, scaled or not.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "text/features.h"
#include "text/rows.h"

namespace fastsvm {

// A value of column c stands at anchor_c + step (least_c + k) for a whole number k, or as near to it as the digits of a
// file allow; the step is the same in all columns, so that every squared distance is a whole number of its squares.
class Grid {
public:
    static constexpr std::int32_t most_levels = 256;
    // The grid of the vectors, whose features these are: k from 0 to 255 in every column. None where there is none.
    static std::optional<Grid> of(const Rows& vectors, const Features& features);
    // False where some of the vectors show that they are on none, which takes no time.
    static bool possible(const Rows& vectors);

    double step() const { return step_; }
    // The vectors' values of no feature are farther apart than so many levels.
    std::int32_t levels() const { return levels_; }
    // The vectors' numbers, and those of the zeros, are below this.
    std::int32_t numbers() const { return numbers_; }
    // The largest Euclidean distance of a vector from where it stands on the grid, but for what absent entries add.
    double off() const { return off_; }
    // Where values stand, for a loop over many.
    class Places {
    public:
        // The number of a value, which may be any, and how far the value is from there. False where it is off the grid.
        bool place(std::int64_t column, double value, std::int32_t& number, double& off) const {
            const Column& c = columns_[column];
            const double steps = (value - c.anchor) * per_step_;
            if (!(std::fabs(steps) < 1e6)) return false;
            const double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to the nearest integer
            const double k = (steps + shift) - shift;
            // What the subtraction, the product and the sum lose in rounding is less than the second term (B31).
            off = std::fabs(value - (c.anchor + step_ * k)) + 0x1p-50 * (std::fabs(value) + std::fabs(c.anchor));
            number = static_cast<std::int32_t>(k) - c.least;
            return off <= tolerance_;
        }
        // The number of an absent entry's zero; -1 where zero is off the grid, and every row must have the entry.
        std::int32_t zero(std::int64_t column) const { return columns_[column].zero; }

    private:
        friend class Grid;
        struct Column {
            double anchor = 0;
            std::int32_t least = 0, zero = -1;
        };
        const Column* columns_;
        double step_, per_step_, tolerance_;
    };
    Places places() const {
        Places out;
        out.columns_ = columns_.data();
        out.step_ = step_, out.per_step_ = per_step_, out.tolerance_ = tolerance_;
        return out;
    }
    // The sum of squares of how far these zeros are from where they stand: most an absent entry or many can add.
    double zeros_off() const { return zeros_off_; }

private:
    using Column = Places::Column;
    struct Sample;
    bool fit(const Sample& sample);
    bool cover(const Rows& vectors, const Features& features, Sample& sample);

    std::vector<Column> columns_;
    double step_ = 0, per_step_ = 0, tolerance_ = 0, off_ = 0, zeros_off_ = 0;
    std::int32_t levels_ = 0, numbers_ = 0;
};

}  // namespace fastsvm

// Grid: recognizes features with few, evenly spaced values, and turns values into whole numbers.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "text/features.h"
#include "text/rows.h"

namespace fastsvm {

// Features with few, evenly spaced values: binary, levels of gray, scaled or not. A value of column c is anchor_c +
// step (least_c + k), k whole, to within a file's digits. All columns share the step, so squared distances are whole
// multiples of its square.
class Grid {
public:
    static constexpr std::int32_t most_levels = 256;
    // Returns the grid of the vectors, k from 0 to 255 in every column, or nullopt if there is none.
    static std::optional<Grid> of(const Rows& vectors, const Features& features);
    // Fast check: false if a sample is not on a grid.
    static bool possible(const Rows& vectors);

    double step() const { return step_; }
    // Largest number of steps between two values of a feature, plus one.
    std::int32_t levels() const { return levels_; }
    // Upper limit of the k of vectors and of zeros.
    std::int32_t numbers() const { return numbers_; }
    // Largest Euclidean distance of a vector from the grid, without absent entries.
    double off() const { return off_; }
    // Turns a row's values into the whole numbers k. The grid must outlive it.
    class Quantizer {
    public:
        // Sets a value's k and its distance from the grid; false if off the grid.
        bool quantize(std::int64_t column, double value, std::int32_t& number, double& off) const {
            const Column& c = columns_[column];
            const double steps = (value - c.anchor) * per_step_;
            if (!(std::fabs(steps) < 1e6)) return false;
            const double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number
            const double k = (steps + shift) - shift;
            // The second term exceeds the rounding (B31).
            off = std::fabs(value - (c.anchor + step_ * k)) + 0x1p-50 * (std::fabs(value) + std::fabs(c.anchor));
            number = static_cast<std::int32_t>(k) - c.least;
            return off <= tolerance_;
        }
        // k of an absent entry's zero, or -1 if off the grid: rows must have the entry.
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
    Quantizer quantizer() const {
        Quantizer out;
        out.columns_ = columns_.data();
        out.step_ = step_, out.per_step_ = per_step_, out.tolerance_ = tolerance_;
        return out;
    }
    // Sum of squared distances of these zeros from the grid.
    double zeros_off() const { return zeros_off_; }

private:
    using Column = Quantizer::Column;
    struct Sample;
    bool fit(const Sample& sample);
    bool cover(const Rows& vectors, const Features& features, Sample& sample);

    std::vector<Column> columns_;
    double step_ = 0, per_step_ = 0, tolerance_ = 0, off_ = 0, zeros_off_ = 0;
    std::int32_t levels_ = 0, numbers_ = 0;
};

}  // namespace fastsvm

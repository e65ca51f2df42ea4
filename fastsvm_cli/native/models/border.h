// Evaluates border models (file: engine/border_file.h).
#pragma once
#include <cstdint>
#include <vector>

#include "answers/decisions.h"
#include "simd/pool.h"
#include "text/features.h"
#include "text/rows.h"

namespace fastsvm {

// Maximum number of nearest samples that are averaged.
constexpr int most_local = 64;

// Border samples (Mills, "When Support Vector Machines are just too slow"): f(z) ~ level + n_i . (z - b_i) for the
// nearest sample i, or a weighted mean of that over the `local` nearest ones.
class Border {
public:
    // local: 1 to most_local. Throws std::invalid_argument.
    Border(std::vector<std::int32_t> features, int local);
    Border(const Border&) = delete;
    ~Border();
    // Adds the next pair. rows: (n, 2, d), points b_i, each with its normal n_i. Without samples the value is `level`.
    void add_pair(double level, std::int64_t n, const double* rows);
    // Uses all threads. A row's value depends on that row alone.
    void decision_values(const Rows& rows, Decisions& out) const;

    std::int64_t dimension() const { return features_.size(); }
    std::int64_t pairs() const { return static_cast<std::int64_t>(pairs_.size()); }

private:
    struct Pair {
        double level;
        std::int64_t n;
        // (d): m, the points' mean; distances about it keep their digits.
        std::vector<double> center;
        std::vector<double> blocks;     // (panels, d, panel): b - m
        std::vector<double> half_norm;  // (panels * panel): |b - m|^2 / 2 + m.(b - m), infinite in the padding
        std::vector<double> normals;    // (n, d)
        std::vector<double> offset;     // (n): level - n.b
    };
    struct Scratch;
    double value(const Pair& pair, const Columns& row, double outside, Scratch& scratch) const;
    double plane(const Pair& pair, std::int64_t sample, const Columns& row) const;
    double squared_distance(const Pair& pair, std::int64_t sample, const std::vector<double>& z) const;
    double mean(const Pair& pair, const Columns& row, double outside, Scratch& scratch) const;

    Features features_;
    int local_;
    std::vector<Pair> pairs_;
    Pool<Scratch> scratches_;
};

}  // namespace fastsvm

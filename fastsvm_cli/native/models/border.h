// Border models (Mills, "When Support Vector Machines are just too slow"): their files, and their evaluation.
// Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "answers/decisions.h"
#include "engine/model_file.h"
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

// At a border sample b, between vectors of opposite class, a decision function is `level`; n is its gradient there. A
// row's value is level + n . (z - b) for the nearest sample.
class BorderFile : public CompiledFile {
public:
    // Border samples of a pair of classes.
    struct Samples {
        double level = 0;  // decision value of all samples; without samples, of every row
        std::int64_t count = 0;
        std::vector<double> rows;  // (count, 2, d): a sample's point, then its normal
    };
    using CompiledFile::CompiledFile;

    std::vector<std::int32_t> features;             // (d)
    std::vector<std::shared_ptr<Samples>> samples;  // (pairs)
    int local = 1;                                  // number of nearest samples that are averaged
    bool single = false;                            // rows are in single precision

    const char* kind() const override { return "border"; }
    const char* body_word() const override { return "border"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::vector<std::int32_t> used_indices() const override { return features; }
    std::size_t bytes() const override;

protected:
    std::shared_ptr<Model> make_model() const override;
};

}  // namespace fastsvm

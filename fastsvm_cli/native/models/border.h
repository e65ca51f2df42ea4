// Border models, and the density models that they share samples with.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "answers/predictions.h"
#include "engine/model.h"
#include "exact/values/panels.h"
#include "simd/parallel.h"
#include "text/rows.h"

namespace fastsvm {

// Kernel density estimates of variable bandwidth (Mills, "When Support Vector Machines are just too slow"). For every
// pair of classes f(z) = log(S_i / S_j), S_c = sum of exp(-|z - x|^2 / (2 h^2)) over the rows x of class c, with the h
// for which S_i + S_j is `weight`.
class Density {
public:
    // rows: class by class, nr_sv[c] >= 1 of class c. 0 < weight < the number of rows of any pair.
    Density(std::vector<std::int64_t> nr_sv, double weight, const Rows& rows);
    Density(const Density&) = delete;
    ~Density();
    // Uses all threads. A row's value depends on that row alone; 0 if a distance overflows.
    void decision_values(const Rows& rows, Decisions& out) const;

    std::int64_t pairs() const { return static_cast<std::int64_t>(nr_sv_.size() * (nr_sv_.size() - 1) / 2); }

private:
    struct Scratch;
    double log_odds(std::int64_t first, std::int64_t n_first, std::int64_t second, std::int64_t n_second,
                    Scratch& scratch) const;

    std::vector<std::int64_t> nr_sv_;
    double weight_;
    Features features_;
    std::int64_t panels_;
    PanelMatrix<double> blocks_;  // (rows, d)
    Pool<Scratch> scratches_;
};

// The decision value is log(S_first / S_second): LIBSVM's sigmoid with A = -1 and B = 0 gives P(first | z) = S_first /
// (S_first + S_second). The paper's R(z) is tanh of half the decision value.
class DensityFile : public CompiledFile {
public:
    using CompiledFile::CompiledFile;

    double weight = 0;  // a pair's sum of kernel values; below the number of its rows
    // The training rows with labels, by class in the header's order, about another origin.
    std::shared_ptr<const Rows> rows;

    const char* kind() const override { return "density"; }
    const char* body_word() const override { return "rows"; }
    void keys(Archive& archive) override;
    void body(Archive& archive) override;
    std::vector<std::int32_t> used_indices() const override;
    std::size_t bytes() const override { return bytes_of(*rows); }
    std::string unbounded() const override {
        return "a density estimate found, whose gamma is another one for every row: it has no bound";
    }

protected:
    std::shared_ptr<Model> make_model() const override;
    std::int64_t own_max_index() const override { return rows->max_index; }
};

constexpr std::int64_t most_density_cells = std::int64_t{1} << 28;  // rows times features, a dense matrix
// Message for more cells than that.
std::string too_many_cells(std::int64_t rows, std::int64_t features);

// Border models (Mills, "When Support Vector Machines are just too slow"): their files, and their evaluation.
// Format: FORMAT.md.

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
        PanelMatrix<double> blocks;     // (n, d): b - m
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

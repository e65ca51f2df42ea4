// Decisions: what a model computes for a chunk of rows, which is decision values and radii, or labels alone.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace fastsvm {

// Rows decided per level of an exact model: grid, single precision, double precision, reference sum.
using LevelRows = std::array<std::int64_t, 4>;
constexpr std::size_t grid_level = 0, single_level = 1, double_level = 2, reference_level = 3;

// Indices of set flags, increasing.
std::vector<std::int64_t> flagged_rows(const std::vector<char>& flags);

// Decision values, or labels alone, of a chunk of rows, and the cost of computing them. A pair is a decision function:
// of the classes (i, j), i < j, in LIBSVM's order, or the only one.
struct Decisions {
    explicit Decisions(std::int64_t pairs, bool with_radius = false, bool labels_alone = false)
        : pairs(pairs), with_radius(with_radius), labels_alone(labels_alone) {
        if (with_radius && labels_alone) throw std::invalid_argument("labels alone have no radii");
    }
    // Begins a chunk of n rows, in the memory of the last one: resets the costs. The model then fills the arrays.
    void resize(std::int64_t n) {
        rows = n;
        if (labels_alone)
            winner.resize(static_cast<std::size_t>(n));
        else
            value.resize(static_cast<std::size_t>(n * pairs)), winner.clear();
        if (with_radius) radius.resize(static_cast<std::size_t>(n * pairs));
        is_outside.clear();
        evaluations.assign(static_cast<std::size_t>(n), 0);
        outside = reference_rows = 0;
        level_rows.fill(0);
    }
    // Replaces values and radii of the rows `which` by those of `from`, which has only these rows (radius 0 if it has
    // none), and adds its costs. Throws std::invalid_argument if shapes differ or values are missing, std::out_of_range
    // for an unknown row.
    void put(const std::vector<std::int64_t>& which, const Decisions& from);
    // Sets these rows' classes from `from`, which has only labels; they override values. With one pair, also moves the
    // value to the class's side of zero, where its radius stays valid. Throws as put().
    void elect(const std::vector<std::int64_t>& which, const Decisions& from);
    // The class of a row set by elect(), or -1.
    std::int32_t elected(std::int64_t row) const { return winner.empty() ? -1 : winner[static_cast<std::size_t>(row)]; }
    // Adds only kernel evaluations. Throws as put().
    void charge(const std::vector<std::int64_t>& which, const Decisions& from);
    // Maps every value y to to + (y - from) * scale, scale > 0; radii are scaled, and widened by the rounding. A radius
    // 0 stays 0. Throws std::invalid_argument for labels only.
    void map_values(double from, double scale, double to);
    // Adds `more` kernel evaluations to every row.
    void count(std::int64_t more);
    std::int64_t kernel_evaluations() const;  // of all rows
    std::vector<std::int64_t> outside_rows() const { return flagged_rows(is_outside); }

    std::int64_t pairs;
    // The caller requests radii, and the model has them.
    bool with_radius;
    // The caller requests only classes, and the model finds them without all values.
    bool labels_alone;
    // With labels_alone and one pair, the sign of the first level's value suffices: near zero, rounding may change it.
    bool likely = false;
    std::int64_t rows = 0;
    // (rows): index in the model's labels. With labels_alone, replaces values; otherwise -1 if not elected, empty if
    // none is.
    std::vector<std::int32_t> winner;
    // (rows, pairs), rho subtracted.
    std::vector<double> value;
    // (rows, pairs): bound on |value - svm-predict's|; empty without radii.
    std::vector<double> radius;
    // Number of rows outside the bound of Claesen et al., eq. (3.11), for at least one expansion.
    std::int64_t outside = 0;
    // (rows): outside that bound; empty if not counted.
    std::vector<char> is_outside;
    // Number of rows that the reference sum evaluated.
    std::int64_t reference_rows = 0;
    // Rows that each level decided; exact models alone count them.
    LevelRows level_rows{};
    // (rows): kernel evaluations, with repeats, of models that stop early.
    std::vector<std::int64_t> evaluations;
};

}  // namespace fastsvm

// What a model answers for a chunk of rows.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace fastsvm {

// Rows by the rung of an exact model's evaluation that settled them: on a grid, in single precision, in double
// precision, by the reference sum.
using RungRows = std::array<std::int64_t, 4>;
constexpr std::size_t grid_rung = 0, single_rung = 1, double_rung = 2, reference_rung = 3;

// The rows with a flag that is not 0, increasing.
std::vector<std::int64_t> flagged_rows(const std::vector<char>& flags);

// Reused from chunk to chunk. A pair is a decision function: (i, j) with i < j over the classes, in LIBSVM's order, or
// the only one.
struct Decisions {
    explicit Decisions(std::int64_t pairs, bool with_radius = false, bool labels_alone = false)
        : pairs(pairs), with_radius(with_radius), labels_alone(labels_alone) {
        if (with_radius && labels_alone) throw std::invalid_argument("labels alone have no radii");
    }
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
        rung_rows.fill(0);
    }
    // Replaces the values (and radii; 0 where `from` has none) of these rows, and adds what they cost. Throws
    // std::invalid_argument, std::out_of_range.
    void put(const std::vector<std::int64_t>& which, const Decisions& from);
    // These rows' classes are those of `from`, which is of labels alone: their labels are, whatever the values say. Of
    // one pair the value moves to its side of zero, where it is not there, and its radius holds of it as before. Throws
    // likewise.
    void elect(const std::vector<std::int64_t>& which, const Decisions& from);
    // The class of a row that was elected, or -1.
    std::int32_t elected(std::int64_t row) const { return winner.empty() ? -1 : winner[static_cast<std::size_t>(row)]; }
    // Adds the kernel evaluations of `from` to those of these rows, and nothing else. Throws likewise.
    void charge(const std::vector<std::int64_t>& which, const Decisions& from);
    // Values y become to + (y - from) * scale, scale above 0, and radii hold of these. Equal values stay equal: a
    // radius of 0 stays 0. Throws std::invalid_argument of labels alone.
    void map_values(double from, double scale, double to);
    // Every row took so many kernel evaluations more.
    void count(std::int64_t more);
    std::int64_t kernel_evaluations() const;  // of all rows
    std::vector<std::int64_t> outside_rows() const { return flagged_rows(is_outside); }

    std::int64_t pairs;
    // The caller wants radii, from a model that gives them.
    bool with_radius;
    // The caller wants each row's class and nothing else, from a model that can tell it without all values.
    bool labels_alone;
    std::int64_t rows = 0;
    // (rows): the class, as its place in the model's labels. With labels_alone, in place of values; without, -1 where a
    // row was not elected, and empty where none was.
    std::vector<std::int32_t> winner;
    // (rows, pairs), rho subtracted.
    std::vector<double> value;
    // (rows, pairs): |value - svm-predict's| is at most this; empty without radii.
    std::vector<double> radius;
    // How many rows are outside the bound of Claesen et al., eq. (3.11), for at least one expansion.
    std::int64_t outside = 0;
    // (rows): whether a row is one of these; empty of a model that does not count them.
    std::vector<char> is_outside;
    // How many rows the reference sum evaluated.
    std::int64_t reference_rows = 0;
    // Of an exact model.
    RungRows rung_rows{};
    // (rows): kernel evaluations, as often as they were done; of models that stop early.
    std::vector<std::int64_t> evaluations;
};

}  // namespace fastsvm

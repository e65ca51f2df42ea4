// Kernel density estimates of variable bandwidth (Mills, "When Support Vector Machines are just too slow"): their
// files, and their evaluation. Format: FORMAT.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "answers/decisions.h"
#include "engine/model_file.h"
#include "simd/pool.h"
#include "text/features.h"
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
    std::vector<double> blocks_;  // (panels, d, panel)
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

}  // namespace fastsvm

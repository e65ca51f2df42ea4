// Evaluates density models (file: engine/density_file.h).
#pragma once
#include <cstdint>
#include <vector>

#include "answers/decisions.h"
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

}  // namespace fastsvm

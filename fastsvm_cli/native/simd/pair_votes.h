// Votes of class pairs from stored kernel values, a register of pairs at a time; compiled per instruction set
// (pair_votes.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr std::int64_t vote_stride = 16;  // classes are padded to multiples of this, the longest register
constexpr int vote_vectors = 32;          // maximum per class
constexpr int vote_rows = 4;              // rows that share loaded coefficients

// Class i against j: rho[i][j] + sum over t of own[i][t][j] K(t-th vector of i) + other[i][t][j] K(t-th vector of j),
// above 0 if i wins; error below radii[i] + radii[j] (B38 in bounds.py).
struct PairTables {
    std::int64_t classes, stride, vectors;  // stride: padded number of classes; vectors: per class, padded
    const float *own, *other;               // (classes, vectors, stride)
    const float* rho;                       // (classes, stride): NaN if not a pair
    const float* largest;                   // (vectors, stride): a vector's largest coefficient size
};

// One row.
struct PairVotes {
    const float* values;  // (vectors, stride): kernel values
    float* radii;         // (stride)
    std::int32_t* low;    // (stride): certain votes
    std::int32_t* open;   // (most, 2): pairs i < j without proven sign
    std::int64_t opened;  // their number; those beyond `most` are only counted
};

struct Opponent {
    std::int64_t of;
    float margin;  // value - radii[of]
};

struct VoteLoops {
    // radii[c] = relative * sum over t of largest[t][c] K + absolute. Returns the class of the nearest vector.
    std::int64_t (*measure)(const PairTables& tables, float relative, float absolute, const PairVotes& row);
    // The class with the least margin against i.
    Opponent (*strongest)(const PairTables& tables, std::int64_t i, const PairVotes& row);
    // Fills low, open and opened of n <= vote_rows rows, `low` contiguous; invalid if `opened` > `most`. scratch:
    // (vote_rows, vectors + 1, stride).
    void (*all_pairs)(const PairTables& tables, std::int64_t most, int n, PairVotes* rows, float* scratch);
};

}  // namespace fastsvm

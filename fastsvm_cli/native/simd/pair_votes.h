// Votes of a model's pairs of classes from stored kernel values, a register of pairs at a time. Compiled once per
// instruction set (pair_votes.cpp).
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr std::int64_t vote_stride = 16;  // classes are filled up to whole runs of so many, a register at most
constexpr int vote_vectors = 32;          // of a class, at most
constexpr int vote_rows = 4;              // that meet the same coefficients, side by side

// The value of class i against j is rho[i][j] + sum over t of own[i][t][j] K(t-th vector of i) + other[i][t][j] K(t-th
// vector of j), above 0 where i wins; its error is below radii[i] + radii[j] (B38 in bounds.py).
struct PairTables {
    std::int64_t classes, stride, vectors;  // stride: classes, filled up; vectors: of a class, filled up
    const float *own, *other;               // (classes, vectors, stride)
    const float* rho;                       // (classes, stride): NaN where there is no pair
    const float* largest;                   // (vectors, stride): the largest size of a vector's coefficients
};

// One row.
struct PairVotes {
    const float* values;  // (vectors, stride): kernel values
    float* radii;         // (stride)
    std::int32_t* low;    // (stride): votes for certain
    std::int32_t* open;   // (most, 2): pairs i < j without a proven sign
    std::int64_t opened;  // how many those are; beyond `most` they are counted only
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
    // Fills low, open and opened of n rows, vote_rows at most, whose `low` stand behind each other; where `opened` is
    // above `most`, low means nothing. scratch: (vote_rows, vectors + 1, stride).
    void (*all_pairs)(const PairTables& tables, std::int64_t most, int n, PairVotes* rows, float* scratch);
};

}  // namespace fastsvm

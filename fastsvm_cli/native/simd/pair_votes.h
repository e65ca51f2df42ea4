// Loops that evaluate all pairs of many classes in single precision, and count their votes (exact/labels/all_pairs.h).
#pragma once
#include <cstdint>

namespace fastsvm {

constexpr std::int64_t vote_stride = 16;  // classes are padded to multiples of this, the longest register
constexpr int vote_vectors = 32;          // maximum per class
constexpr int vote_rows = 4;              // rows that share loaded coefficients

// The coefficients of all pairs. Class i against j: rho[i][j] + sum over t of own[i][t][j] K(vector t of i) +
// other[i][t][j] K(vector t of j), above 0 if i wins; the error is below radii[i] + radii[j] (B38 in PROOFS.md).
struct PairTables {
    std::int64_t classes, stride, vectors;  // stride: padded number of classes; vectors: per class, padded
    const float *own, *other;               // (classes, vectors, stride)
    const float* rho;                       // (classes, stride): NaN if not a pair
    const float* largest;                   // (vectors, stride): largest size of a coefficient
};

// One row: its kernel values, error radii and votes.
struct PairVotes {
    const float* values;           // (vectors, stride): kernel values
    float* radii;                  // (stride)
    std::int32_t* low;             // (stride): certain votes
    std::int32_t* undecided;       // (most, 2): undecided pairs i < j
    std::int64_t undecided_pairs;  // number of undecided pairs; beyond `most` they are only counted
};

// A class, and how clearly another one wins against it.
struct Opponent {
    std::int64_t of;
    float margin;  // value - radii[of]
};

struct VoteLoops {
    // radii[c] = relative * sum over t of largest[t][c] K + absolute. Returns the class of the nearest vector.
    std::int64_t (*measure)(const PairTables& tables, float relative, float absolute, const PairVotes& row);
    // Class with the least margin against i.
    Opponent (*strongest)(const PairTables& tables, std::int64_t i, const PairVotes& row);
    // Fills low, undecided and undecided_pairs of n <= vote_rows rows, whose `low` are contiguous; invalid if
    // `undecided_pairs` > `most`. scratch: (vote_rows, vectors + 1, stride).
    void (*all_pairs)(const PairTables& tables, std::int64_t most, int n, PairVotes* rows, float* scratch);
};

}  // namespace fastsvm

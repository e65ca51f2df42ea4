// Estimated costs of kernel values at each level, from which models choose levels.
#pragma once

namespace fastsvm {

// Nanoseconds of a kernel value: a fixed part, and a part per product.
struct LevelCost {
    double value, product;
    double of(double products) const { return value + product * products; }
};

// The costs with one instruction set. Only their ratios matter.
struct LevelCosts {
    LevelCost single;  // one product per feature
    // On a grid, a product per unusual code of the row (codes), or per feature in the words needed: bits, bytes, 16
    // bits. Infinite if not supported.
    LevelCost codes, bits, bytes, halves;
    // Double precision, a product per feature in register tiles; per entry of a row alone with the panels; per shared
    // entry in column lists.
    LevelCost tiles, entries, lists;
    // For several classes and the values of all pairs: double precision, a product per feature in register tiles; the
    // reference sum, a product per feature of full rows.
    LevelCost several, reference;
    // Proof of coupled probabilities, per class: a product per class.
    LevelCost proof;
};

// The costs with the chosen instruction set, from a table of measurements (scripts/measure_levels.py).
const LevelCosts& level_costs();

}  // namespace fastsvm

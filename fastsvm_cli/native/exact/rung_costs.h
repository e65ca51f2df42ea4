// What a kernel value costs on each rung of the exact evaluation, by instruction set.
#pragma once

namespace fastsvm {

// Nanoseconds of a kernel value: so many for itself, and so many for each product that it takes.
struct RungCost {
    double value, product;
    double of(double products) const { return value + product * products; }
};

struct RungCosts {
    RungCost single;  // a product for every feature
    // On a grid: a product for every code of the row that is not the usual one; for every feature in the words that
    // rows need, of bits, of numbers in bytes and in 16 bits. Infinite where the instruction set does not have them.
    RungCost codes, bits, bytes, halves;
    // In double precision: a product for every feature in register tiles; for every entry of a row that meets the
    // strips alone; for every entry that row and vector share, of lists by column.
    RungCost tiles, entries, lists;
    // Where every pair of several classes gets its value: in double precision, a product for every feature in register
    // tiles; the reference sum, a product for every feature of rows that have them all.
    RungCost several, reference;
    // The proof of a row's coupled probabilities, for each class: a product for every class.
    RungCost proof;
};

// Those of the instruction set that runs.
const RungCosts& rung_costs();

}  // namespace fastsvm

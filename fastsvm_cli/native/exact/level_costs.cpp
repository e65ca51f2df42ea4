#include "exact/level_costs.h"

#include <cstring>
#include <limits>

#include "simd/loops.h"

namespace fastsvm {

namespace {

constexpr LevelCost none{std::numeric_limits<double>::infinity(), 0};

// From scripts/measure_levels.py: single, codes, bits, bytes, halves, tiles, entries, lists; several, reference, proof.
// Only ratios within a row matter; each row is from one machine.

// Measured (AVX-512 and VNNI): single, bits, bytes, lists. Tiles and entries: twice single precision's products, three
// times its exponential. Several, reference and proof: by AVX2's ratios.
[[maybe_unused]] constexpr LevelCosts avx512{{0.25, 0.011}, none,          {0.25, 0.002}, {0.25, 0.007},
                                             none,          {0.75, 0.022}, {2, 0.028},    {0.7, 0.7},
                                             {1.1, 0.022},  {0.8, 0.033},  {250, 30}};
// AMD EPYC (Zen 1), 2026-11-22.
constexpr LevelCosts avx2{{1.1, 0.058}, {0.51, 0.044}, none,        none,        {2.4, 0.056}, {2.9, 0.14},
                          {5.5, 0.19},  {3.9, 1.7},    {4.6, 0.15}, {3.1, 0.22}, {280, 33}};
[[maybe_unused]] constexpr LevelCosts baseline{{1.5, 0.11}, none,        {1.4, 0.016}, none,
                                               {1.4, 0.08}, {7.7, 0.23}, {10, 0.24},   {8.3, 1.6},
                                               {8.9, 0.24}, {8.8, 0.3},  {290, 32}};

}  // namespace

const LevelCosts& level_costs() {
#if defined(__aarch64__)
    return avx2;  // NEON was not measured: the AVX2 machine splits its registers into two of NEON's size
#else
    const char* const name = loops().name;
    if (std::strncmp(name, "avx512", 6) == 0) return avx512;  // without VNNI: not measured
    return std::strcmp(name, "avx2") == 0 ? avx2 : baseline;
#endif
}

}  // namespace fastsvm

// The loops of grid_loops.h for words.
#include "simd/grid_registers.h"

namespace fastsvm {
namespace FASTSVM_ISA {

#if defined(FASTSVM_GRID_CODES)
extern const GridCodeLoops grid_codes;
#endif

namespace {

// Rows that share two loaded registers; sums, these, a row's word and tables fill the registers.
#if defined(__AVX512F__)
constexpr int side_by_side = 8;
#else
constexpr int side_by_side = 4;
#endif
constexpr int parts = 2;

// ---- bits set, per number or byte, where there are no codes, which are faster

#if defined(__AVX512VPOPCNTDQ__)
constexpr bool of_bytes = false;
inline U bits_set(U x) { return (U)_mm512_popcnt_epi32((__m512i)x); }
#elif defined(__AVX512BW__)
constexpr bool of_bytes = true;
inline U bits_set(U x) {
    // Masked: GCC 12 warns of uninitialised reads in the unmasked form.
    const __m512i counts =
        _mm512_maskz_broadcast_i32x4(0xffff, _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    return (U)_mm512_shuffle_epi8(counts, (__m512i)(x & 0x0f0f0f0f)) +
           (U)_mm512_shuffle_epi8(counts, (__m512i)((x >> 4) & 0x0f0f0f0f));
}
#else
constexpr bool of_bytes = true;
inline U bits_set(U x) {
    x = x - ((x >> 1) & 0x55555555);
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333);
    return (x + (x >> 4)) & 0x0f0f0f0f;
}
#endif

#if defined(__AVX512VNNI__)
constexpr int numbers = 4;
inline I add_products(I sum, U x, U z) { return (I)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)z, (__m512i)x); }
#else
constexpr int numbers = 2;
inline I add_products(I sum, U x, U z) {
#if defined(__AVX512BW__)
    return sum + (I)_mm512_madd_epi16((__m512i)x, (__m512i)z);
#elif defined(__AVX2__)
    return sum + (I)_mm256_madd_epi16((__m256i)x, (__m256i)z);
#elif defined(__SSE2__)
    return sum + (I)_mm_madd_epi16((__m128i)x, (__m128i)z);
#else
    return sum + (I)((x & 0xffff) * (z & 0xffff) + (x >> 16) * (z >> 16));
#endif
}
#endif

std::int32_t norm(std::int32_t sum, std::int32_t squares) { return numbers == 4 ? squares - 256 * sum : squares; }

// ---- sums over the words. most: words per sum before `number` must widen it

template <bool bits> struct Words {
    static constexpr bool by_bytes = bits && of_bytes;
    // 31 times 8 bits fit a byte.
    static constexpr std::int64_t most = by_bytes ? 31 : std::int64_t{1} << 40;
    static I add(I sum, U x, U z) {
        if constexpr (bits)
            return (I)((U)sum + bits_set(x & z));
        else
            return add_products(sum, x, z);
    }
    static I number(I sum) {
        if constexpr (by_bytes) {
            const U x = (U)sum, pairs = (x & 0x00ff00ff) + ((x >> 8) & 0x00ff00ff);
            return (I)((pairs & 0xffff) + (pairs >> 16));
        } else {
            return sum;
        }
    }
};

#if defined(__AVX512F__)
// Tables in registers.
template <int size> struct Registers {
    F table[size / width];
    explicit Registers(const GridExponential& e) {
        for (int i = 0; i < size / width; ++i) table[i] = load<F>(e.table + i * width);
    }
    F operator()(I d) const { return pick<0, size>(d); }

private:
    template <int from, int n> F pick(I d) const {
        if constexpr (n == 2 * width) {
            return (F)_mm512_permutex2var_ps((__m512)table[from], (__m512i)d, (__m512)table[from + 1]);
        } else {
            const F low = pick<from, n / 2>(d), high = pick<from + n / 2 / width, n / 2>(d);
            return (F)_mm512_mask_mov_ps((__m512)low, _mm512_test_epi32_mask((__m512i)d, _mm512_set1_epi32(n / 2)),
                                         (__m512)high);
        }
    }
};
#endif

struct Table {
    const float* table;
    I last;
    explicit Table(const GridExponential& e) : table(e.table), last(splat(e.last)) {}
    F operator()(I d) const {
        const I at = d < last ? d : last;
#if defined(__AVX512F__)
        return (F)_mm512_mask_i32gather_ps((__m512)F{}, 0xffff, (__m512i)at, table, 4);
#elif defined(__AVX2__)
        return (F)_mm256_i32gather_ps(table, (__m256i)at, 4);
#else
        F out;
        for (int i = 0; i < width; ++i) out[i] = table[at[i]];
        return out;
#endif
    }
};

template <int rows, bool bits, class Lookup>
void panel_values(const GridRows& z, const GridPanels& x, const GridExponential& exponential, float* const* out) {
    using Step = Words<bits>;
    const Lookup lookup(exponential);
    for (std::int64_t s = 0; s < x.count; ++s)
        for (int part = 0; part < panel; part += parts * width) {
            const std::uint32_t* const block = x.blocks + s * x.words * panel + part;
            I total[rows][parts];
            std::int64_t from = 0;
            do {
                const std::int64_t to = z.count - from > Step::most ? from + Step::most : z.count;
                I sum[rows][parts];
                for (int r = 0; r < rows; ++r)
                    for (int p = 0; p < parts; ++p) sum[r][p] = I{};
                for (std::int64_t w = from; w < to; ++w) {
                    const std::uint32_t* const words = block + z.at[w] * panel;
                    U vectors[parts];
                    for (int p = 0; p < parts; ++p) vectors[p] = load<U>(words + p * width);
                    for (int r = 0; r < rows; ++r) {
                        const U row = splat(z.words[w * rows + r]);
                        for (int p = 0; p < parts; ++p) sum[r][p] = Step::add(sum[r][p], vectors[p], row);
                    }
                }
                for (int r = 0; r < rows; ++r)
                    for (int p = 0; p < parts; ++p)
                        total[r][p] = from == 0 ? Step::number(sum[r][p]) : total[r][p] + Step::number(sum[r][p]);
                from = to;
            } while (from < z.count);
            for (int p = 0; p < parts; ++p) {
                const std::int64_t at = s * panel + part + p * width;
                const I norms = load<I>(x.norms + at);
                for (int r = 0; r < rows; ++r) store(out[r] + at, lookup(norms + z.norms[r] - 2 * total[r][p]));
            }
        }
}

template <int rows>
void row_values(bool bits, GridLookup lookup, const GridRows& z, const GridPanels& x,
                const GridExponential& exponential, float* const* out) {
    if (!bits) {
        const bool table = lookup == GridLookup::table;
        return (table ? panel_values<rows, false, Table> : panel_values<rows, false, Polynomial>)(z, x, exponential,
                                                                                                  out);
    }
#if defined(__AVX512F__)
    switch (lookup) {
        case GridLookup::below_32: return panel_values<rows, true, Registers<32> >(z, x, exponential, out);
        case GridLookup::below_64: return panel_values<rows, true, Registers<64> >(z, x, exponential, out);
        case GridLookup::below_128: return panel_values<rows, true, Registers<128> >(z, x, exponential, out);
        default: break;
    }
#endif
    panel_values<rows, true, Table>(z, x, exponential, out);
}

void values(int rows, bool bits, GridLookup lookup, const GridRows& z, const GridPanels& x,
            const GridExponential& exponential, float* const* out) {
    (rows == 1 ? row_values<1> : row_values<side_by_side>)(bits, lookup, z, x, exponential, out);
}

}  // namespace

extern const GridLoops grid;
#if defined(FASTSVM_GRID_CODES)
const GridLoops grid = {side_by_side, numbers, 0u, norm, values, &grid_codes};
#else
const GridLoops grid = {side_by_side, numbers, numbers == 4 ? 0x80808080u : 0u, norm, values, nullptr};
#endif

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

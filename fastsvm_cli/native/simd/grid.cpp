// The loops of grid_loops.h for words.
#include "simd/grid_registers.h"

namespace fastsvm {
namespace FASTSVM_ISA {

#if defined(FASTSVM_GRID_SUMS)
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

// ---- bit counts, per number or byte, where there are no codes, which are faster

#if defined(__AVX512VPOPCNTDQ__)
constexpr bool of_bytes = false;
[[maybe_unused]] inline U bits_set(U x) { return (U)_mm512_popcnt_epi32((__m512i)x); }
#elif defined(__AVX512BW__)
constexpr bool of_bytes = true;
[[maybe_unused]] inline U bits_set(U x) {
    // Masked: GCC 12 warns of uninitialised reads in the unmasked form.
    const __m512i counts =
        _mm512_maskz_broadcast_i32x4(0xffff, _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    return (U)_mm512_shuffle_epi8(counts, (__m512i)(x & 0x0f0f0f0f)) +
           (U)_mm512_shuffle_epi8(counts, (__m512i)((x >> 4) & 0x0f0f0f0f));
}
#else
constexpr bool of_bytes = true;
[[maybe_unused]] inline U bits_set(U x) {
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

template <GridDistance distance> struct Words {
    static constexpr bool by_bytes = distance != GridDistance::numbers && of_bytes;
    typedef I Sum;
    static Sum nothing() { return I{}; }
    // 31 times 8 bits fit a byte
    static std::int64_t most(const GridRows&) { return by_bytes ? 31 : std::int64_t{1} << 40; }
    static Sum add(Sum sum, U x, U z) {
        if constexpr (distance == GridDistance::numbers)
            return add_products(sum, x, z);
        else if constexpr (distance == GridDistance::common_bits)
            return (I)((U)sum + bits_set(x & z));
        else
            return (I)((U)sum + bits_set(x ^ z));
    }
    static I number(Sum sum) {
        if constexpr (by_bytes) {
            const U x = (U)sum, pairs = (x & 0x00ff00ff) + ((x >> 8) & 0x00ff00ff);
            return (I)((pairs & 0xffff) + (pairs >> 16));
        } else {
            return sum;
        }
    }
};

// 8-bit numbers: 16-bit products, widened per word or, if small, per run of words.
#if defined(FASTSVM_NEON)
template <> struct Words<GridDistance::bytes> {
    typedef I Sum;
    static Sum nothing() { return I{}; }
    static std::int64_t most(const GridRows&) { return std::int64_t{1} << 40; }
    static Sum add(Sum sum, U x, U z) {
        const uint8x16_t a = (uint8x16_t)x, b = (uint8x16_t)z;
        const uint16x8_t low = vmull_u8(vget_low_u8(a), vget_low_u8(b)), high = vmull_high_u8(a, b);
        return sum + (I)vpaddq_u32(vpaddlq_u16(low), vpaddlq_u16(high));
    }
    static I number(Sum sum) { return sum; }
};
template <> struct Words<GridDistance::small_numbers> {
    struct Sum {
        uint16x8_t low, high;
    };
    static constexpr std::int32_t small = 256, small_sum = 65535;
    static Sum nothing() { return {vdupq_n_u16(0), vdupq_n_u16(0)}; }
    static std::int64_t most(const GridRows& z) { return z.run; }
    static Sum add(Sum sum, U x, U z) {
        const uint8x16_t a = (uint8x16_t)x, b = (uint8x16_t)z;
        return {vmlal_u8(sum.low, vget_low_u8(a), vget_low_u8(b)), vmlal_high_u8(sum.high, a, b)};
    }
    static I number(Sum sum) { return (I)vpaddq_u32(vpaddlq_u16(sum.low), vpaddlq_u16(sum.high)); }
};
#elif defined(FASTSVM_GRID_SUMS)
template <> struct Words<GridDistance::bytes> {
    typedef I Sum;
    static Sum nothing() { return I{}; }
    static std::int64_t most(const GridRows&) { return std::int64_t{1} << 40; }
    static Sum add(Sum sum, U x, U z) {
        return sum + (I)_mm256_madd_epi16(_mm256_maddubs_epi16((__m256i)z, (__m256i)x), _mm256_set1_epi16(1));
    }
    static I number(Sum sum) { return sum; }
};
template <> struct Words<GridDistance::small_numbers> {
    typedef I Sum;
    // The instruction adds two products, and the vectors' numbers are signed.
    static constexpr std::int32_t small = 128, small_sum = 32767 / 2;
    static Sum nothing() { return I{}; }
    static std::int64_t most(const GridRows& z) { return z.run; }
    static Sum add(Sum sum, U x, U z) {
        I out = (I)_mm256_add_epi16((__m256i)sum, _mm256_maddubs_epi16((__m256i)z, (__m256i)x));
        __asm__ volatile("" : "+x"(out));  // one after the other: with all products first, GCC runs out of registers
        return out;
    }
    static I number(Sum sum) { return (I)_mm256_madd_epi16((__m256i)sum, _mm256_set1_epi16(1)); }
};
#endif

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

// take(r, at, values): values of row r and `width` vectors from `at` on, in order of `at`.
template <int rows, GridDistance distance, class Lookup, class Take>
inline __attribute__((always_inline)) void panel_loop(const GridRows& z, const GridPanels& x,
                                                      const GridExponential& exponential, Take& take) {
    using Step = Words<distance>;
    const Lookup lookup(exponential);
    const std::int64_t most = Step::most(z);
    for (std::int64_t s = 0; s < x.count; ++s)
        for (int part = 0; part < panel; part += parts * width) {
            const std::uint32_t* const block = x.blocks + s * x.words * panel + part;
            I total[rows][parts];
            std::int64_t from = 0;
            do {
                const std::int64_t to = z.count - from > most ? from + most : z.count;
                typename Step::Sum sum[rows][parts];
                for (int r = 0; r < rows; ++r)
                    for (int p = 0; p < parts; ++p) sum[r][p] = Step::nothing();
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
                for (int r = 0; r < rows; ++r) {
                    I d = total[r][p];
                    if (distance != GridDistance::different_bits) d = norms + z.norms[r] - 2 * d;
                    take(r, at, lookup(d));
                }
            }
        }
}

struct Store {
    float* const* out;
    void operator()(int r, std::int64_t at, F values) { store(out[r] + at, values); }
};

#if defined(FASTSVM_GRID_SUMS)

template <int rows> struct AddProducts {
    const float* coef;
    double* const* sums;
    F four[rows];
    void operator()(int r, std::int64_t at, F values) {
        const F c = load<F>(coef + at);
        four[r] = at % (4 * width) == 0 ? values * c : multiply_add(values, c, four[r]);
        if (at % (4 * width) != 3 * width) return;
        Sums sum(sums[r]);
        sum.add(four[r]);
        sum.put(sums[r]);
    }
};

template <int rows, GridDistance distance, class Take>
void by_lookup(GridLookup lookup, const GridRows& z, const GridPanels& x, const GridExponential& exponential,
               Take take) {
    if (lookup == GridLookup::short_polynomial)
        panel_loop<rows, distance, ShortPolynomial>(z, x, exponential, take);
    else
        panel_loop<rows, distance, Polynomial>(z, x, exponential, take);
}

template <int rows, class Take>
void by_distance(GridDistance distance, GridLookup lookup, const GridRows& z, const GridPanels& x,
                 const GridExponential& exponential, Take take) {
    if (distance == GridDistance::small_numbers)
        by_lookup<rows, GridDistance::small_numbers>(lookup, z, x, exponential, take);
    else if (distance == GridDistance::bytes)
        by_lookup<rows, GridDistance::bytes>(lookup, z, x, exponential, take);
    else
        by_lookup<rows, GridDistance::numbers>(lookup, z, x, exponential, take);
}

template <int rows>
void row_values(GridDistance distance, GridLookup lookup, const GridRows& z, const GridPanels& x,
                const GridExponential& exponential, float* const* out) {
    by_distance<rows>(distance, lookup, z, x, exponential, Store{out});
}

void sums(int rows, GridDistance distance, GridLookup lookup, const GridRows& z, const GridPanels& x,
          const GridExponential& exponential, const float* coef, double* const* sums) {
    if (rows == 1)
        by_distance<1>(distance, lookup, z, x, exponential, AddProducts<1>{coef, sums, {}});
    else
        by_distance<side_by_side>(distance, lookup, z, x, exponential, AddProducts<side_by_side>{coef, sums, {}});
}

#else

template <int rows, GridDistance distance, class Lookup>
void panel_values(const GridRows& z, const GridPanels& x, const GridExponential& exponential, float* const* out) {
    Store take{out};
    panel_loop<rows, distance, Lookup>(z, x, exponential, take);
}

template <int rows, GridDistance distance>
void bit_values(GridLookup lookup, const GridRows& z, const GridPanels& x, const GridExponential& exponential,
                float* const* out) {
#if defined(__AVX512F__)
    switch (lookup) {
        case GridLookup::below_32: return panel_values<rows, distance, Registers<32> >(z, x, exponential, out);
        case GridLookup::below_64: return panel_values<rows, distance, Registers<64> >(z, x, exponential, out);
        case GridLookup::below_128: return panel_values<rows, distance, Registers<128> >(z, x, exponential, out);
        default: break;
    }
#else
    (void)lookup;
#endif
    panel_values<rows, distance, Table>(z, x, exponential, out);
}

template <int rows>
void row_values(GridDistance distance, GridLookup lookup, const GridRows& z, const GridPanels& x,
                const GridExponential& exponential, float* const* out) {
    constexpr GridDistance numbers = GridDistance::numbers;
    switch (distance) {
        case GridDistance::different_bits:
            return bit_values<rows, GridDistance::different_bits>(lookup, z, x, exponential, out);
        case GridDistance::common_bits:
            return bit_values<rows, GridDistance::common_bits>(lookup, z, x, exponential, out);
        default: break;
    }
    if (lookup == GridLookup::polynomial)
        panel_values<rows, numbers, Polynomial>(z, x, exponential, out);
    else
        panel_values<rows, numbers, Table>(z, x, exponential, out);
}

#endif

void values(int rows, GridDistance distance, GridLookup lookup, const GridRows& z, const GridPanels& x,
            const GridExponential& exponential, float* const* out) {
    if (rows == 1)
        row_values<1>(distance, lookup, z, x, exponential, out);
    else
        row_values<side_by_side>(distance, lookup, z, x, exponential, out);
}

}  // namespace

extern const GridLoops grid;
#if defined(FASTSVM_GRID_SUMS)
constexpr std::int32_t small = Words<GridDistance::small_numbers>::small,
                       small_sum = Words<GridDistance::small_numbers>::small_sum;
const GridLoops grid = {side_by_side, numbers, small, small_sum, 0u, norm, values, sums, &grid_codes};
#else
const GridLoops grid = {side_by_side, numbers, 0, 0, numbers == 4 ? 0x80808080u : 0u, norm, values, nullptr, nullptr};
#endif

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

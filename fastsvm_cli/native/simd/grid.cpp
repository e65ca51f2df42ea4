// Compiled once per instruction set, as loops.cpp and under the same rule: no inline function of the standard library.
#include "simd/grid_loops.h"

#include "simd/loops.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

// One register of the machine, and how many rows meet two of them at a time: their sums, the two, a row's word and the
// tables are what the machine has registers for.
#if defined(__AVX512F__)
constexpr int width = 16, side_by_side = 8;
#elif defined(__AVX2__)
constexpr int width = 8, side_by_side = 4;
#else
constexpr int width = 4, side_by_side = 4;
#endif
constexpr int parts = 2;
typedef std::int32_t I __attribute__((vector_size(4 * width)));
typedef std::uint32_t U __attribute__((vector_size(4 * width)));
typedef float F __attribute__((vector_size(4 * width)));

template <class V, class T> inline V load(const T* p) {
    V x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}
inline void store(float* p, F x) { __builtin_memcpy(p, &x, sizeof x); }
inline U splat(std::uint32_t x) { return U{} + x; }
inline I splat(std::int32_t x) { return I{} + x; }
inline F splat(float x) { return F{} + x; }

// Masks of all ones stand where GCC 12 takes its own headers' unmasked forms for uninitialised reads.

// ---- how many bits are set, in every number or in every byte

#if defined(__AVX512VPOPCNTDQ__)
constexpr bool of_bytes = false;
inline U bits_set(U x) { return (U)_mm512_popcnt_epi32((__m512i)x); }
#elif defined(__AVX512BW__)
constexpr bool of_bytes = true;
inline U bits_set(U x) {
    const __m512i counts =
        _mm512_maskz_broadcast_i32x4(0xffff, _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    return (U)_mm512_shuffle_epi8(counts, (__m512i)(x & 0x0f0f0f0f)) +
           (U)_mm512_shuffle_epi8(counts, (__m512i)((x >> 4) & 0x0f0f0f0f));
}
#elif defined(__AVX2__)
constexpr bool of_bytes = true;
inline U bits_set(U x) {
    const __m256i counts = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    return (U)_mm256_shuffle_epi8(counts, (__m256i)(x & 0x0f0f0f0f)) +
           (U)_mm256_shuffle_epi8(counts, (__m256i)((x >> 4) & 0x0f0f0f0f));
}
#else
constexpr bool of_bytes = true;
inline U bits_set(U x) {
    x = x - ((x >> 1) & 0x55555555);
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333);
    return (x + (x >> 4)) & 0x0f0f0f0f;
}
#endif

// ---- inner products of the numbers in a word

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

// ---- sums over the words. most: how many words a sum takes before `number` must widen it

template <GridDistance distance> struct Sum {
    static constexpr bool by_bytes = distance != GridDistance::numbers && of_bytes;
    static constexpr std::int64_t most = by_bytes ? 31 : std::int64_t{1} << 40;  // 31 times 8 bits fit a byte
    static I add(I sum, U x, U z) {
        if constexpr (distance == GridDistance::numbers)
            return add_products(sum, x, z);
        else if constexpr (distance == GridDistance::common_bits)
            return (I)((U)sum + bits_set(x & z));
        else
            return (I)((U)sum + bits_set(x ^ z));
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

// ---- exp

#if defined(__AVX512F__)
// Tables of 32, 64 and 128 numbers stand in registers.
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

// a b + c, in one rounding where the machine can.
inline F multiply_add(F a, F b, F c) {
#if defined(__AVX512F__)
    return (F)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    return (F)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

// 2^-r for |r| <= 1/2 and a little more: Taylor's polynomial of degree 7 (B34).
inline F power_of_two(F r) {
    const F y = r * -0.693147180559945309f;
    F p = multiply_add(splat(1.0f / 5040), y, splat(1.0f / 720));
    p = multiply_add(p, y, splat(1.0f / 120));
    p = multiply_add(p, y, splat(1.0f / 24));
    p = multiply_add(p, y, splat(1.0f / 6));
    p = multiply_add(p, y, splat(0.5f));
    p = multiply_add(p, y, splat(1.0f));
    return multiply_add(p, y, splat(1.0f));
}

// 2^-(c D), c D = k + r with k the nearest whole number. The product is the sum of two numbers of single precision, the
// second one exact but for its own rounding; without an instruction that multiplies and adds, one of double precision.
struct Polynomial {
    I nothing;
#if defined(__FMA__)
    F high, low;
    explicit Polynomial(const GridExponential& e) : nothing(splat(e.nothing)), high(splat(e.high)), low(splat(e.low)) {}
    F operator()(I d) const {
        const F most = __builtin_convertvector(d, F);
        const F left = __builtin_convertvector(d - __builtin_convertvector(most, I), F);
        const F product = most * high;
        const F rest = multiply_add(most, low, multiply_add(left, high, multiply_add(most, high, -product)));
        const F biased = product + 12582912.0f;  // 1.5 * 2^23: adding it rounds to the nearest integer
        const F r = (product - (biased - 12582912.0f)) + rest;
        const I value = (I)((U)power_of_two(r) - ((U)biased << 23));
        return (F)(d < nothing ? value : I{});
    }
#else
    double exponent;
    explicit Polynomial(const GridExponential& e) : nothing(splat(e.nothing)), exponent(e.exponent) {}
    F operator()(I d) const {
        typedef double D __attribute__((vector_size(8 * width)));
        typedef long long L __attribute__((vector_size(8 * width)));
        const I least = d < nothing ? d : nothing;
        const D product = __builtin_convertvector(least, D) * exponent;
        const D biased = product + 6755399441055744.0;  // 1.5 * 2^52
        const F r = __builtin_convertvector(product - (biased - 6755399441055744.0), F);
        const U k = (U) __builtin_convertvector((L)biased, I);
        const I value = (I)((U)power_of_two(r) - (k << 23));
        return (F)(d < nothing ? value : I{});
    }
#endif
};

// ---- the loop

template <int rows, GridDistance distance, class Lookup>
void strip_values(const GridRows& z, const GridStrips& x, const GridExponential& exponential, float* const* out) {
    using Step = Sum<distance>;
    const Lookup lookup(exponential);
    for (std::int64_t s = 0; s < x.count; ++s)
        for (int part = 0; part < strip; part += parts * width) {
            const std::uint32_t* const block = x.blocks + s * x.words * strip + part;
            I total[rows][parts];
            std::int64_t from = 0;
            do {
                const std::int64_t to = z.count - from > Step::most ? from + Step::most : z.count;
                I sum[rows][parts];
                for (int r = 0; r < rows; ++r)
                    for (int p = 0; p < parts; ++p) sum[r][p] = I{};
                for (std::int64_t w = from; w < to; ++w) {
                    const std::uint32_t* const words = block + z.at[w] * strip;
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
                const std::int64_t at = s * strip + part + p * width;
                const I norms = load<I>(x.norms + at);
                for (int r = 0; r < rows; ++r) {
                    I d = total[r][p];
                    if (distance != GridDistance::different_bits) d = norms + z.norms[r] - 2 * d;
                    store(out[r] + at, lookup(d));
                }
            }
        }
}

template <int rows, GridDistance distance>
void bit_values(GridLookup lookup, const GridRows& z, const GridStrips& x, const GridExponential& exponential,
                float* const* out) {
#if defined(__AVX512F__)
    switch (lookup) {
        case GridLookup::below_32: return strip_values<rows, distance, Registers<32>>(z, x, exponential, out);
        case GridLookup::below_64: return strip_values<rows, distance, Registers<64>>(z, x, exponential, out);
        case GridLookup::below_128: return strip_values<rows, distance, Registers<128>>(z, x, exponential, out);
        default: break;
    }
#else
    (void)lookup;
#endif
    strip_values<rows, distance, Table>(z, x, exponential, out);
}

template <int rows>
void row_values(GridDistance distance, GridLookup lookup, const GridRows& z, const GridStrips& x,
                const GridExponential& exponential, float* const* out) {
    switch (distance) {
        case GridDistance::different_bits:
            return bit_values<rows, GridDistance::different_bits>(lookup, z, x, exponential, out);
        case GridDistance::common_bits:
            return bit_values<rows, GridDistance::common_bits>(lookup, z, x, exponential, out);
        default: break;
    }
    if (lookup == GridLookup::polynomial)
        strip_values<rows, GridDistance::numbers, Polynomial>(z, x, exponential, out);
    else
        strip_values<rows, GridDistance::numbers, Table>(z, x, exponential, out);
}

void values(int rows, GridDistance distance, GridLookup lookup, const GridRows& z, const GridStrips& x,
            const GridExponential& exponential, float* const* out) {
    if (rows == 1)
        row_values<1>(distance, lookup, z, x, exponential, out);
    else
        row_values<side_by_side>(distance, lookup, z, x, exponential, out);
}

}  // namespace

extern const GridLoops grid;
const GridLoops grid = {side_by_side, numbers, numbers == 4 ? 0x80808080u : 0u, norm, values};

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

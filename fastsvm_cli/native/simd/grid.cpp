// The loops over whole numbers of loops.h: for words, and for four-bit codes.
#include "simd/isa.h"
#include "simd/loops.h"

// Compiles the loops for codes, which permute bytes. (AVX-512 has only the loops that were measured on it.)
#if defined(FASTSVM_NEON) || (defined(__AVX2__) && !defined(__AVX512F__))
#define FASTSVM_GRID_CODES
#endif

namespace fastsvm::FASTSVM_ISA {
namespace {

// ---- registers of 32-bit numbers, and powers of two

constexpr int width = register_bytes / 4;  // numbers per register
typedef std::int32_t I __attribute__((vector_size(register_bytes)));
typedef std::uint32_t U __attribute__((vector_size(register_bytes)));
typedef float F __attribute__((vector_size(register_bytes)));

template <class V, class T> inline V load(const T* p) {
    V x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}
template <class V, class T> inline void store(T* p, V x) { __builtin_memcpy(p, &x, sizeof x); }
inline U splat(std::uint32_t x) { return U{} + x; }
inline I splat(std::int32_t x) { return I{} + x; }
inline F splat(float x) { return F{} + x; }

// a b + c, in one rounding if possible.
inline F multiply_add(F a, F b, F c) {
#if defined(__AVX512F__)
    return (F)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    return (F)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(FASTSVM_NEON)
    return (F)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    return a * b + c;
#endif
}

// 2^-r for |r| up to slightly above 1/2 (B34).
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

// 2^-(c D): B34. Without fused multiply-add, the product is in double precision.
struct Polynomial {
    I nothing;
#if defined(__FMA__) || defined(FASTSVM_NEON)
    F high, low;
    explicit Polynomial(const GridExponential& e) : nothing(splat(e.nothing)), high(splat(e.high)), low(splat(e.low)) {}
    F operator()(I d) const {
        const F most = __builtin_convertvector(d, F);
        const F left = __builtin_convertvector(d - __builtin_convertvector(most, I), F);
        return power(d, most, multiply_add(left, high, lost(most)));
    }

protected:
    F lost(F most) const { return multiply_add(most, high, -(most * high)); }
    F power(I d, F most, F lost) const {
        const F product = most * high;
        const F rest = multiply_add(most, low, lost);
        const F biased = product + 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
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

// ---- words: rows that share two loaded registers; sums, these, a row's word and tables fill the registers

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
        case GridLookup::below_32: return panel_values<rows, true, Registers<32>>(z, x, exponential, out);
        case GridLookup::below_64: return panel_values<rows, true, Registers<64>>(z, x, exponential, out);
        case GridLookup::below_128: return panel_values<rows, true, Registers<128>>(z, x, exponential, out);
        default: break;
    }
#endif
    panel_values<rows, true, Table>(z, x, exponential, out);
}

void values(int rows, bool bits, GridLookup lookup, const GridRows& z, const GridPanels& x,
            const GridExponential& exponential, float* const* out) {
    (rows == 1 ? row_values<1> : row_values<side_by_side>)(bits, lookup, z, x, exponential, out);
}

// ---- four-bit codes

#if defined(FASTSVM_GRID_CODES)

typedef unsigned char B __attribute__((vector_size(4 * width)));
typedef std::uint16_t H __attribute__((vector_size(4 * width)));

constexpr int bytes = 4 * width, code_registers = panel / bytes;  // per register; registers per panel
// Registers per loaded table; their sums fit registers too.
constexpr int together = 4;

// Byte 4 i + b is of vector b * width + i: a shift by 8 b leaves `width` adjacent vectors in 32-bit numbers.
int position(int s) { return s / bytes * bytes + s % width * 4 + s % bytes / width; }

inline B load_table(const unsigned char* table) {
#if defined(__AVX2__)
    return (B)_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
#else
    return load<B>(table);
#endif
}
inline B pick(B table, B code) {
#if defined(__AVX2__)
    return (B)_mm256_shuffle_epi8((__m256i)table, (__m256i)code);
#else
    return (B)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)code);
#endif
}

// ---- exp of D in byte b of each 32-bit number, or half b for the polynomial

#if defined(__AVX2__)
inline F pick(F table, U at) {
    return (F)_mm256_permutevar8x32_ps((__m256)table, (__m256i)at);
}  // by the low three bits
// `first` where the sign bit of `which` is 0.
inline F choose(F first, F second, U which) {
    return (F)_mm256_blendv_ps((__m256)first, (__m256)second, (__m256)which);
}
// A product of two table numbers, for the low and the high bits of D (B32).
template <int below> struct Factors {
    F low, high, next;
    explicit Factors(const GridExponential& e)
        : low(load<F>(e.table)), high(load<F>(e.by_eight)), next(load<F>(e.by_eight + 8)) {}
    template <int b> F of(U d) const {
        const U at = d >> (8 * b + 3);
        F factor = pick(high, at);
        if constexpr (below > 64) factor = choose(factor, pick(next, at), d << (25 - 8 * b));
        return pick(low, d >> (8 * b)) * factor;
    }
};
template <> struct Factors<256> {
    F low[2], high[2];
    explicit Factors(const GridExponential& e)
        : low{load<F>(e.table), load<F>(e.table + 8)}, high{load<F>(e.by_sixteen), load<F>(e.by_sixteen + 8)} {}
    template <int b> F of(U d) const {
        const U ones = d >> (8 * b), sixteens = d >> (8 * b + 4);
        return choose(pick(low[0], ones), pick(low[1], ones), d << (28 - 8 * b)) *
               choose(pick(high[0], sixteens), pick(high[1], sixteens), d << (24 - 8 * b));
    }
};
#else
template <int below> struct Factors {
    uint8x16x4_t low, high;
    explicit Factors(const GridExponential& e) : low(table_of(e.table)), high(table_of(e.by_sixteen)) {}
    template <int b> F of(U d) const { return pick(low, (d >> (8 * b)) & 15) * pick(high, (d >> (8 * b + 4)) & 15); }

private:
    static uint8x16x4_t table_of(const float* from) {
        return vld1q_u8_x4(reinterpret_cast<const unsigned char*>(from));
    }
    static F pick(uint8x16x4_t table, U at) {  // bytes of number `at`
        return (F)vqtbl4q_u8(table, (uint8x16_t)(at * 0x04040404u + 0x03020100u));
    }
};
#endif

// For `nothing` at most 2^24: single precision holds every d below.
struct ShortPolynomial : Polynomial {
    using Polynomial::Polynomial;
    F operator()(U d) const {
        const F most = __builtin_convertvector((I)d, F);
        return power((I)d, most, lost(most));
    }
};

// D < 256 in bytes; carries in between do not matter.
template <int panels> struct Narrow {
    B sum[panels * code_registers];
    inline __attribute__((always_inline)) Narrow(std::int64_t, const GridCodeRow& z, const GridCodePanels& x,
                                                 std::int64_t s) {
        const std::int64_t stride = x.codes * panel;
        const unsigned char* const block = x.blocks + s * stride;
        for (int q = 0; q < panels * code_registers; ++q)
            sum[q] = load<B>(x.bases + (s + q / code_registers) * 2 * panel + q % code_registers * bytes) +
                     static_cast<unsigned char>(z.start);
        for (std::int64_t k = 0; k < z.count; ++k) {
            const B table = load_table(z.tables + k * codes_per_table);
            const unsigned char* const codes = block + z.at[k];
            for (int q = 0; q < panels * code_registers; ++q)
                sum[q] += pick(table, load<B>(codes + q / code_registers * stride + q % code_registers * bytes));
        }
    }
    template <int b, class Lookup> F value(int q, const Lookup& lookup) const {
        return lookup.template of<b>((U)sum[q]);
    }
};

// D < 2^16: bytes are widened before they overflow. `even` has bytes 0 and 2 of each 32-bit number.
template <int panels> struct Wide {
    H even[panels * code_registers], odd[panels * code_registers];
    inline __attribute__((always_inline)) Wide(std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
                                               std::int64_t s) {
        const std::int64_t stride = x.codes * panel;
        const unsigned char* const block = x.blocks + s * stride;
        for (int q = 0; q < panels * code_registers; ++q) {
            const unsigned char* const base =
                x.bases + (s + q / code_registers) * 2 * panel + q % code_registers * bytes;
            const H low = load<H>(base), high = load<H>(base + panel);
            even[q] = (low & 0xff) + (high << 8) + static_cast<std::uint16_t>(z.start);
            odd[q] = (low >> 8) + (high & 0xff00) + static_cast<std::uint16_t>(z.start);
        }
        for (std::int64_t from = 0; from < z.count; from += run) {
            const std::int64_t to = z.count - from > run ? from + run : z.count;
            B sum[panels * code_registers];
            for (int q = 0; q < panels * code_registers; ++q) sum[q] = B{};
            for (std::int64_t k = from; k < to; ++k) {
                const B table = load_table(z.tables + k * codes_per_table);
                const unsigned char* const codes = block + z.at[k];
                for (int q = 0; q < panels * code_registers; ++q)
                    sum[q] += pick(table, load<B>(codes + q / code_registers * stride + q % code_registers * bytes));
            }
            for (int q = 0; q < panels * code_registers; ++q) {
                even[q] += (H)sum[q] & 0xff;
                odd[q] += (H)sum[q] >> 8;
            }
        }
    }
    template <int b, class Lookup> F value(int q, const Lookup& lookup) const {
        const U two = (U)(b % 2 ? odd[q] : even[q]);
        return lookup(b / 2 ? two >> 16 : two & 0xffff);
    }
};

// take(at, ...): values of four times `width` vectors from `at` on.

template <template <int> class Distances, int panels, class Lookup, class Take>
inline __attribute__((always_inline)) void some_panels(std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
                                                       std::int64_t s, const Lookup& lookup, Take& take) {
    const Distances<panels> d(run, z, x, s);
    for (int q = 0; q < panels * code_registers; ++q)
        take(s * panel + q * bytes, d.template value<0>(q, lookup), d.template value<1>(q, lookup),
             d.template value<2>(q, lookup), d.template value<3>(q, lookup));
}

template <template <int> class Distances, class Lookup, class Take>
void all_panels(std::int64_t run, const GridCodeRow& z, const GridCodePanels& x, const GridExponential& exponential,
                Take& take) {
    const Lookup lookup(exponential);
    constexpr int most = together / code_registers;
    std::int64_t s = 0;
    for (; s + most <= x.count; s += most) some_panels<Distances, most>(run, z, x, s, lookup, take);
    for (; s < x.count; ++s) some_panels<Distances, 1>(run, z, x, s, lookup, take);
}

// Products below 2^-126 become 0: denormals are slow.
class NoDenormals {
#if defined(__SSE2__)
public:
    NoDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON); }
    ~NoDenormals() { _mm_setcsr(before_); }

private:
    unsigned before_;
#else
public:
    NoDenormals() {}
    ~NoDenormals() {}
#endif
};

template <class Take>
void by_lookup(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
               const GridExponential& exponential, Take& take) {
    const NoDenormals guard;
    switch (lookup) {
#if defined(__AVX2__)
        case GridLookup::below_64: return all_panels<Narrow, Factors<64>>(run, z, x, exponential, take);
        case GridLookup::below_128: return all_panels<Narrow, Factors<128>>(run, z, x, exponential, take);
#endif
        case GridLookup::short_polynomial: return all_panels<Wide, ShortPolynomial>(run, z, x, exponential, take);
        default: return all_panels<Narrow, Factors<256>>(run, z, x, exponential, take);
    }
}

struct Store {
    float* out;
    void operator()(std::int64_t at, F a, F b, F c, F d) {
        store(out + at, a);
        store(out + at + width, b);
        store(out + at + 2 * width, c);
        store(out + at + 3 * width, d);
    }
};

// Sums of kernel values times coefficients (B25): as many partial sums as a register has numbers.
struct AddProducts {
    typedef double D __attribute__((vector_size(4 * width)));
    const float* coef;
    D low{}, high{};
    void operator()(std::int64_t at, F a, F b, F c, F d) {
        const float* const from = coef + at;
        F four = a * load<F>(from);
        four = multiply_add(b, load<F>(from + width), four);
        four = multiply_add(c, load<F>(from + 2 * width), four);
        four = multiply_add(d, load<F>(from + 3 * width), four);
#if defined(__AVX2__)
        low += (D)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)four));
        high += (D)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)four, 1));
#else
        low += (D)vcvt_f64_f32(vget_low_f32((float32x4_t)four));
        high += (D)vcvt_high_f64_f32((float32x4_t)four);
#endif
    }
};

void code_values(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
                 const GridExponential& exponential, float* out) {
    Store take{out};
    by_lookup(lookup, run, z, x, exponential, take);
}

void code_sums(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
               const GridExponential& exponential, const float* coef, double factor, double* sums) {
    AddProducts take{coef};
    by_lookup(lookup, run, z, x, exponential, take);
    double now[width];
    store(now, take.low), store(now + width / 2, take.high);
    for (int i = 0; i < width; ++i) sums[i] += factor * now[i];
}

constexpr GridCodeLoops codes_here = {together / code_registers, position, code_values, code_sums};
constexpr const GridCodeLoops* codes = &codes_here;
#else
constexpr const GridCodeLoops* codes = nullptr;
#endif

}  // namespace

extern const GridLoops grid;
const GridLoops grid = {side_by_side, numbers, numbers == 4 ? 0x80808080u : 0u, norm, values, codes};

}  // namespace fastsvm::FASTSVM_ISA

// The loops of grid_loops.h for four-bit codes.
#include "simd/grid_registers.h"

#if defined(FASTSVM_GRID_CODES)

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

typedef unsigned char B __attribute__((vector_size(4 * width)));
typedef std::uint16_t H __attribute__((vector_size(4 * width)));

constexpr int bytes = 4 * width, parts = panel / bytes;  // per register; registers per panel
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
    F operator()(I d) const {
        const F most = __builtin_convertvector(d, F);
        return power(d, most, lost(most));
    }
};

struct Halves {
    ShortPolynomial power;
    explicit Halves(const GridExponential& e) : power(e) {}
    F operator()(U d) const { return power((I)d); }
};

// D < 256 in bytes; carries in between do not matter.
template <int panels> struct Narrow {
    B sum[panels * parts];
    inline __attribute__((always_inline)) Narrow(std::int64_t, const GridCodeRow& z, const GridCodePanels& x,
                                                 std::int64_t s) {
        const std::int64_t stride = x.codes * panel;
        const unsigned char* const block = x.blocks + s * stride;
        for (int q = 0; q < panels * parts; ++q)
            sum[q] = load<B>(x.bases + (s + q / parts) * 2 * panel + q % parts * bytes) +
                     static_cast<unsigned char>(z.start);
        for (std::int64_t k = 0; k < z.count; ++k) {
            const B table = load_table(z.tables + k * codes_per_table);
            const unsigned char* const codes = block + z.at[k];
            for (int q = 0; q < panels * parts; ++q)
                sum[q] += pick(table, load<B>(codes + q / parts * stride + q % parts * bytes));
        }
    }
    template <int b, class Lookup> F value(int q, const Lookup& lookup) const {
        return lookup.template of<b>((U)sum[q]);
    }
};

// D < 2^16: bytes are widened before they overflow. `even` has bytes 0 and 2 of each 32-bit number.
template <int panels> struct Wide {
    H even[panels * parts], odd[panels * parts];
    inline __attribute__((always_inline)) Wide(std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
                                               std::int64_t s) {
        const std::int64_t stride = x.codes * panel;
        const unsigned char* const block = x.blocks + s * stride;
        for (int q = 0; q < panels * parts; ++q) {
            const unsigned char* const base = x.bases + (s + q / parts) * 2 * panel + q % parts * bytes;
            const H low = load<H>(base), high = load<H>(base + panel);
            even[q] = (low & 0xff) + (high << 8) + static_cast<std::uint16_t>(z.start);
            odd[q] = (low >> 8) + (high & 0xff00) + static_cast<std::uint16_t>(z.start);
        }
        for (std::int64_t from = 0; from < z.count; from += run) {
            const std::int64_t to = z.count - from > run ? from + run : z.count;
            B sum[panels * parts];
            for (int q = 0; q < panels * parts; ++q) sum[q] = B{};
            for (std::int64_t k = from; k < to; ++k) {
                const B table = load_table(z.tables + k * codes_per_table);
                const unsigned char* const codes = block + z.at[k];
                for (int q = 0; q < panels * parts; ++q)
                    sum[q] += pick(table, load<B>(codes + q / parts * stride + q % parts * bytes));
            }
            for (int q = 0; q < panels * parts; ++q) {
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
    for (int q = 0; q < panels * parts; ++q)
        take(s * panel + q * bytes, d.template value<0>(q, lookup), d.template value<1>(q, lookup),
             d.template value<2>(q, lookup), d.template value<3>(q, lookup));
}

template <template <int> class Distances, class Lookup, class Take>
void all_panels(std::int64_t run, const GridCodeRow& z, const GridCodePanels& x, const GridExponential& exponential,
                Take& take) {
    const Lookup lookup(exponential);
    constexpr int most = together / parts;
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
        case GridLookup::short_polynomial: return all_panels<Wide, Halves>(run, z, x, exponential, take);
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
struct Sums {
    typedef double D __attribute__((vector_size(4 * width)));
    D low{}, high{};
    void add(F four) {
#if defined(__AVX2__)
        low += (D)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)four));
        high += (D)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)four, 1));
#else
        low += (D)vcvt_f64_f32(vget_low_f32((float32x4_t)four));
        high += (D)vcvt_high_f64_f32((float32x4_t)four);
#endif
    }
    void put(double* sums) const { store(sums, low), store(sums + width / 2, high); }
};

struct AddProducts {
    const float* coef;
    Sums sums;
    void operator()(std::int64_t at, F a, F b, F c, F d) {
        const float* const from = coef + at;
        F four = a * load<F>(from);
        four = multiply_add(b, load<F>(from + width), four);
        four = multiply_add(c, load<F>(from + 2 * width), four);
        sums.add(multiply_add(d, load<F>(from + 3 * width), four));
    }
};

void values(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
            const GridExponential& exponential, float* out) {
    Store take{out};
    by_lookup(lookup, run, z, x, exponential, take);
}

void sums(GridLookup lookup, std::int64_t run, const GridCodeRow& z, const GridCodePanels& x,
          const GridExponential& exponential, const float* coef, double factor, double* sums) {
    AddProducts take{coef, Sums()};
    by_lookup(lookup, run, z, x, exponential, take);
    double now[width];
    take.sums.put(now);
    for (int i = 0; i < width; ++i) sums[i] += factor * now[i];
}

}  // namespace

extern const GridCodeLoops grid_codes;
const GridCodeLoops grid_codes = {together / parts, position, values, sums};

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

#endif

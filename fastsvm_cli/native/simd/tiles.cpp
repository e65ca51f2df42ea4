// Compiled once per instruction set, as loops.cpp is. What is proven of single precision here is B22 to B25 in
// bounds.py, whether the compiler contracts products and sums or not.
#include "simd/tiles.h"

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "simd/loops.h"

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX2__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif
typedef float vf __attribute__((vector_size(register_bytes)));
typedef unsigned vu __attribute__((vector_size(register_bytes)));
typedef double vd __attribute__((vector_size(register_bytes)));
constexpr int floats = register_bytes / 4, doubles = register_bytes / 8;

// Whatever the registers: sixteen numbers, and eight.
typedef float f16 __attribute__((vector_size(64)));
typedef float f8 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));

template <class V, class T> inline __attribute__((always_inline)) V load(const T* p) {
    V x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}
template <class V, class T> inline __attribute__((always_inline)) void store(T* p, V x) {
    __builtin_memcpy(p, &x, sizeof x);
}

inline __attribute__((always_inline)) vf smaller(vf x, vf y) {
#if defined(__AVX512F__)
    return (vf)_mm512_maskz_min_ps(0xffff, (__m512)x, (__m512)y);  // GCC 12 warns of the one without a mask
#elif defined(__AVX2__)
    return (vf)_mm256_min_ps((__m256)x, (__m256)y);
#else
    return x < y ? x : y;
#endif
}

inline __attribute__((always_inline)) f16 larger(f16 x, f16 y) {
#if defined(__AVX512F__)
    return (f16)_mm512_maskz_max_ps(0xffff, (__m512)x, (__m512)y);
#else
    return x > y ? x : y;
#endif
}

// The largest of sixteen.
inline __attribute__((always_inline)) float peak(f16 x) {
    float most = x[0];
    for (int i = 1; i < 16; ++i) most = x[i] > most ? x[i] : most;
    return most;
}

inline __attribute__((always_inline)) vf splat(float x) { return vf{} + x; }

// 2^-D for D > -1, 2^-126 from D = 126 on: D = k + r with k whole and |r| <= 0.5, exactly; 2^-r by a polynomial of
// degree 6, within 0.27 u of it (B23). The result is a normal number, always; of other D, which rows have that no bound
// holds for, it is any.
inline __attribute__((always_inline)) vf power(vf distance) {
    const vf shift = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to a whole number
    const vf bounded = smaller(distance, splat(126.0f));
    const vf shifted = bounded + shift;
    const vf r = bounded - (shifted - shift);
    vf p = splat(0x1.41fb82p-13f);
    p = p * r - 0x1.5f3eacp-10f;
    p = p * r + 0x1.3b2d4ep-7f;
    p = p * r - 0x1.c6aee8p-5f;
    p = p * r + 0x1.ebfbdcp-3f;
    p = p * r - 0x1.62e430p-1f;
    p = p * r + 1.0f;
    return (vf)((vu)p - ((vu)shifted << 23));
}

// Adds, for R rows and two registers of vectors, the products of d columns to sums. Every sum is of one row and one
// vector and takes its columns in order, so that it is the same whatever R.
template <int R, class V, class T>
inline __attribute__((always_inline)) void add_columns(std::int64_t d, const T* z, const T* x, V (&sums)[R][2]) {
    constexpr int width = sizeof(V) / sizeof(T);
    for (std::int64_t c = 0; c < d; ++c, z += panel, x += strip) {
        const V x0 = load<V>(x), x1 = load<V>(x + width);
        for (int r = 0; r < R; ++r) {
            sums[r][0] += z[r] * x0;
            sums[r][1] += z[r] * x1;
        }
    }
}

// whole: all columns in one call.
template <int R, bool whole>
void single_rows(std::int64_t d, std::int64_t piece, bool first, bool last, const float* z, const float* row_norms,
                 const float* x, const float* norms, float* out, std::int64_t stride) {
    for (int at = 0; at < strip; at += 2 * floats) {
        float* const to = out + at;
        vf sums[R][2] = {};
        if (!whole && !first)
            for (int r = 0; r < R; ++r)
                for (int h = 0; h < 2; ++h) sums[r][h] = load<vf>(to + r * stride + h * floats);
        std::int64_t from = 0;
        if (whole || first) {
            from = piece < d ? piece : d;
            add_columns<R>(from, z, x + at, sums);
        }
        for (; from < d; from += piece) {
            vf more[R][2] = {};
            add_columns<R>(piece < d - from ? piece : d - from, z + from * panel, x + from * strip + at, more);
            for (int r = 0; r < R; ++r)
                for (int h = 0; h < 2; ++h) sums[r][h] += more[r][h];
        }
        for (int r = 0; r < R; ++r)
            for (int h = 0; h < 2; ++h) {
                const vf both = row_norms[r] + load<vf>(norms + at + h * floats);
                store(to + r * stride + h * floats, whole || last ? power(both - 2.0f * sums[r][h]) : sums[r][h]);
            }
    }
}

template <bool whole>
void single_panel(int rows, std::int64_t d, std::int64_t piece, bool first, bool last, const float* z,
                  const float* row_norms, const float* x, const float* norms, float* out, std::int64_t stride) {
    switch (rows) {
        case 1: return single_rows<1, whole>(d, piece, first, last, z, row_norms, x, norms, out, stride);
        case 2: return single_rows<2, whole>(d, piece, first, last, z, row_norms, x, norms, out, stride);
        case 3: return single_rows<3, whole>(d, piece, first, last, z, row_norms, x, norms, out, stride);
        case 4: return single_rows<4, whole>(d, piece, first, last, z, row_norms, x, norms, out, stride);
        case 5: return single_rows<5, whole>(d, piece, first, last, z, row_norms, x, norms, out, stride);
        default: return single_rows<6, whole>(d, piece, first, last, z, row_norms, x, norms, out, stride);
    }
}

void single_powers(int rows, std::int64_t d, std::int64_t piece, bool first, bool last, const float* z,
                   const float* row_norms, const float* x, const float* norms, float* out, std::int64_t stride) {
    (first && last ? single_panel<true> : single_panel<false>)(rows, d, piece, first, last, z, row_norms, x, norms, out,
                                                               stride);
}

template <int R>
void double_dots_rows(std::int64_t d, bool first, const double* z, const double* x, double* const* out) {
    for (int at = 0; at < strip; at += 2 * doubles) {
        vd sums[R][2] = {};
        if (!first)
            for (int r = 0; r < R; ++r)
                for (int h = 0; h < 2; ++h) sums[r][h] = load<vd>(out[r] + at + h * doubles);
        add_columns<R>(d, z, x + at, sums);
        for (int r = 0; r < R; ++r)
            for (int h = 0; h < 2; ++h) store(out[r] + at + h * doubles, sums[r][h]);
    }
}

void double_dots(int rows, std::int64_t d, bool first, const double* z, const double* x, double* const* out) {
    switch (rows) {
        case 1: return double_dots_rows<1>(d, first, z, x, out);
        case 2: return double_dots_rows<2>(d, first, z, x, out);
        case 3: return double_dots_rows<3>(d, first, z, x, out);
        case 4: return double_dots_rows<4>(d, first, z, x, out);
        case 5: return double_dots_rows<5>(d, first, z, x, out);
        default: return double_dots_rows<6>(d, first, z, x, out);
    }
}

inline __attribute__((always_inline)) d8 widened(f8 x) {
#if defined(__AVX512F__)
    return (d8)_mm512_maskz_cvtps_pd(0xff, (__m256)x);  // GCC 12 converts halves of it
#else
    return __builtin_convertvector(x, d8);
#endif
}

inline __attribute__((always_inline)) d8 widened(f16 x) {
    f8 low, high;
    __builtin_memcpy(&low, &x, sizeof low);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&x) + sizeof low, sizeof high);
    return widened(low) + widened(high);
}

// Adds, for R rows, the products over the first n / 16 sixteens to sums; and keeps the largest of the rows' numbers,
// where that is wanted.
template <int R, bool peaked>
inline __attribute__((always_inline)) void sums_of_products(std::int64_t n, const float* a,
                                                            const float* const (&rows)[R], d8 (&sums)[R],
                                                            f16 (&peaks)[R]) {
    const float* b[R];
    for (int r = 0; r < R; ++r) b[r] = rows[r];
    const auto number = [&](int r, std::int64_t at) {
        const f16 x = load<f16>(b[r] + at);
        if constexpr (peaked) peaks[r] = larger(peaks[r], x);
        return x;
    };
    for (; n >= 64; n -= 64, a += 64) {
        const f16 a0 = load<f16>(a), a1 = load<f16>(a + 16), a2 = load<f16>(a + 32), a3 = load<f16>(a + 48);
        for (int r = 0; r < R; ++r) {
            f16 four = a0 * number(r, 0);
            four += a1 * number(r, 16);
            four += a2 * number(r, 32);
            four += a3 * number(r, 48);
            sums[r] += widened(four);
            b[r] += 64;
        }
    }
    if (n >= 16) {
        f16 few[R];
        for (int r = 0; r < R; ++r) few[r] = load<f16>(a) * number(r, 0);
        for (std::int64_t at = 16; at + 16 <= n; at += 16) {
            const f16 more = load<f16>(a + at);
            for (int r = 0; r < R; ++r) few[r] += more * number(r, at);
        }
        for (int r = 0; r < R; ++r) sums[r] += widened(few[r]);
    }
}

inline __attribute__((always_inline)) double total(d8 s) {
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

// The totals of four, side by side.
inline __attribute__((always_inline)) void store_totals(const d8 (&sums)[4], double* out) {
    typedef long long i8 __attribute__((vector_size(64)));
    typedef double d4 __attribute__((vector_size(32)));
    const auto pairs = [](d8 x, d8 y) {
        return __builtin_shuffle(x, y, i8{0, 8, 2, 10, 4, 12, 6, 14}) +
               __builtin_shuffle(x, y, i8{1, 9, 3, 11, 5, 13, 7, 15});
    };
    const d8 low = pairs(sums[0], sums[1]), high = pairs(sums[2], sums[3]);
    const d8 fours = __builtin_shuffle(low, high, i8{0, 1, 8, 9, 4, 5, 12, 13}) +
                     __builtin_shuffle(low, high, i8{2, 3, 10, 11, 6, 7, 14, 15});
    d4 first, second;
    __builtin_memcpy(&first, &fours, sizeof first);
    __builtin_memcpy(&second, reinterpret_cast<const char*>(&fours) + sizeof first, sizeof second);
    store(out, first + second);
}

void add_products(std::int64_t rows, std::int64_t n, const float* coef, const float* values, std::int64_t stride,
                  double* sums) {
    for (std::int64_t r = 0; r < rows; ++r, values += stride, sums += lanes) {
        const float* const row[1] = {values};
        d8 sum[1] = {load<d8>(sums)};
        f16 none[1];
        sums_of_products<1, false>(n, coef, row, sum, none);
        store(sums, sum[0]);
    }
}

template <int R, bool peaked>
void products_of_rows(std::int64_t count, const std::int64_t* n, const float* coef, const std::int64_t* coef_at,
                      const float* const* values, const std::int64_t* value_at, double* out, float* peaks) {
    for (std::int64_t k = 0; k < count; ++k, out += product_rows) {
        const float* const a = coef + coef_at[k];
        const float* rows[R];
        for (int r = 0; r < R; ++r) rows[r] = values[r] + value_at[k];
        d8 sums[R] = {};
        f16 most[R] = {};
        sums_of_products<R, peaked>(n[k], a, rows, sums, most);
        if constexpr (R == product_rows)
            store_totals(sums, out);
        else
            for (int r = 0; r < R; ++r) out[r] = total(sums[r]);
        if constexpr (peaked)
            for (int r = 0; r < R; ++r) peaks[r] = peak(most[r]);
        for (std::int64_t s = n[k] / 16 * 16; s < n[k]; ++s)
            for (int r = 0; r < R; ++r) {
                out[r] += static_cast<double>(a[s]) * static_cast<double>(rows[r][s]);
                if constexpr (peaked) peaks[r] = rows[r][s] > peaks[r] ? rows[r][s] : peaks[r];
            }
        if constexpr (peaked) peaks += product_rows;
    }
}

template <bool peaked>
void products_by_rows(int rows, std::int64_t count, const std::int64_t* n, const float* coef,
                      const std::int64_t* coef_at, const float* const* values, const std::int64_t* value_at,
                      double* out, float* peaks) {
    switch (rows) {
        case 1: return products_of_rows<1, peaked>(count, n, coef, coef_at, values, value_at, out, peaks);
        case 2: return products_of_rows<2, peaked>(count, n, coef, coef_at, values, value_at, out, peaks);
        case 3: return products_of_rows<3, peaked>(count, n, coef, coef_at, values, value_at, out, peaks);
        default: return products_of_rows<4, peaked>(count, n, coef, coef_at, values, value_at, out, peaks);
    }
}

void products(int rows, std::int64_t count, const std::int64_t* n, const float* coef, const std::int64_t* coef_at,
              const float* const* values, const std::int64_t* value_at, double* out) {
    products_by_rows<false>(rows, count, n, coef, coef_at, values, value_at, out, nullptr);
}

void products_and_peaks(int rows, std::int64_t count, const std::int64_t* n, const float* coef,
                        const float* const* values, const std::int64_t* value_at, double* out, float* peaks) {
    products_by_rows<true>(rows, count, n, coef, value_at, values, value_at, out, peaks);
}

void center(std::int64_t d, double factor, const double* z, const double* center, const double* weights, float* out,
            double* sums) {
    d8 squares{}, weighted{}, lost{};
    for (std::int64_t c = 0; c < d; c += lanes) {
        const d8 exact = (load<d8>(z + c) - load<d8>(center + c)) * factor;
        const f8 rounded = __builtin_convertvector(exact, f8);
        const d8 kept = widened(rounded);
        const d8 square = kept * kept, off = exact - kept;
        squares += square;
        weighted += square * load<d8>(weights + c);
        lost += off * off;
        for (int i = 0; i < lanes; ++i) out[(c + i) * panel] = rounded[i];
    }
    sums[0] = total(squares);
    sums[1] = total(weighted);
    sums[2] = total(lost);
}

template <class V, class T> double multiply_adds(std::int64_t times, double* sum) {
    constexpr int count = 12, width = sizeof(V) / sizeof(T);
    V sums[count];
    for (int i = 0; i < count; ++i) sums[i] = V{} + static_cast<T>(i);
    V factor = V{} + static_cast<T>(0.5), term = V{} + static_cast<T>(1);
    for (std::int64_t t = 0; t < times; ++t) {
        __asm__ volatile("" : "+m"(factor), "+m"(term));
        const V f = factor, one = term;
        for (int u = 0; u < 8; ++u)
            for (int i = 0; i < count; ++i) sums[i] = sums[i] * f + one;
    }
    *sum = 0;
    for (int i = 0; i < count; ++i) *sum += static_cast<double>(sums[i][0]);
    return static_cast<double>(times) * 8 * count * width;
}

}  // namespace

extern const TileLoops tiles;
const TileLoops tiles = {
    single_powers,
    double_dots,
    add_products,
    products,
    products_and_peaks,
    center,
    multiply_adds<vf, float>,
    multiply_adds<vd, double>,
};

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

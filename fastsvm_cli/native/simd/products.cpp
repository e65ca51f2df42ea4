#include "simd/loops.h"

#include "simd/wide.h"

namespace fastsvm::FASTSVM_ISA {
namespace {

// Eight, or a longer register, widened by halves as in tiles.cpp.
constexpr int width = floats > lanes ? floats : lanes;
typedef Wide<float, width> Many;
typedef Wide<float, lanes> f8;
typedef float float4 __attribute__((vector_size(16)));

template <class V> FASTSVM_INLINE v8 in_double(V x) {
    if constexpr (width > lanes)
        return widened_halves(x);
    else
        return widened(x);
}

// Numbers of two vectors by index, b's after a's.
template <int... index, class V> FASTSVM_INLINE V shuffled(V a, V b) {
#if defined(__clang__)
    return __builtin_shufflevector(a, b, index...);
#else
    return __builtin_shuffle(a, b, decltype(a == b){index...});
#endif
}

// Largest of numbers i, i + 4, i + 8, ...
template <class V> FASTSVM_INLINE float4 peaks_of_fours(V x) {
    constexpr int parts = sizeof(V) / sizeof(float4);
    float4 part[parts];
    __builtin_memcpy(part, &x, sizeof x);
    for (int half = parts / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) part[i] = most(part[i], part[i + half]);
    return part[0];
}

// Largest of each four.
FASTSVM_INLINE void store_peaks(const float4 (&x)[4], float* out) {
    const auto pairs = [](float4 a, float4 b) { return most(shuffled<0, 4, 1, 5>(a, b), shuffled<2, 6, 3, 7>(a, b)); };
    const float4 low = pairs(x[0], x[1]), high = pairs(x[2], x[3]);
    const float4 all = most(shuffled<0, 1, 4, 5>(low, high), shuffled<2, 3, 6, 7>(low, high));
    __builtin_memcpy(out, &all, sizeof all);
}

// Adds R rows' products, for the whole eights of n; if peaked, sets the rows' maxima.
template <int R, bool peaked>
FASTSVM_INLINE void sums_of_products(std::int64_t n, const float* a, const float* const (&rows)[R], v8 (&sums)[R],
                                     float4 (&peaks)[4]) {
    const float* b[R];
    Many largest[R];
    for (int r = 0; r < R; ++r) b[r] = rows[r], largest[r] = Many::splat(0);
    const auto number = [&](int r, std::int64_t at) {
        const Many x = Many::load(b[r] + at);
        if constexpr (peaked) largest[r] = larger(largest[r], x);
        return x;
    };
    const auto add = [&](std::int64_t registers) {
        Many few[R];
        for (int r = 0; r < R; ++r) few[r] = Many::load(a) * number(r, 0);
        for (std::int64_t t = 1; t < registers; ++t) {
            const Many more = Many::load(a + t * width);
            for (int r = 0; r < R; ++r) few[r] += more * number(r, t * width);
        }
        for (int r = 0; r < R; ++r) sums[r] += in_double(few[r]);
    };
    for (; n >= 4 * width; n -= 4 * width, a += 4 * width) {
        add(4);
        for (int r = 0; r < R; ++r) b[r] += 4 * width;
    }
    if (n >= width) add(n / width);
    if constexpr (peaked)
        for (int r = 0; r < R; ++r) peaks[r] = peaks_of_fours(largest[r]);
    if (width > lanes && n % width >= lanes) {
        const std::int64_t at = n / width * width;
        for (int r = 0; r < R; ++r) {
            const f8 x = f8::load(b[r] + at);
            sums[r] += widened(f8::load(a + at) * x);
            if constexpr (peaked) peaks[r] = most(peaks[r], peaks_of_fours(x));
        }
    }
}

FASTSVM_INLINE void store_totals(const v8 (&sums)[4], double* out) {
#if defined(__AVX512F__)
    typedef double d4 __attribute__((vector_size(32)));
    const auto pairs = [](v8 x, v8 y) {
        return shuffled<0, 8, 2, 10, 4, 12, 6, 14>(x.v, y.v) + shuffled<1, 9, 3, 11, 5, 13, 7, 15>(x.v, y.v);
    };
    const auto low = pairs(sums[0], sums[1]), high = pairs(sums[2], sums[3]);
    const auto fours = shuffled<0, 1, 8, 9, 4, 5, 12, 13>(low, high) + shuffled<2, 3, 10, 11, 6, 7, 14, 15>(low, high);
    d4 first, second;
    __builtin_memcpy(&first, &fours, sizeof first);
    __builtin_memcpy(&second, reinterpret_cast<const char*>(&fours) + sizeof first, sizeof second);
    first += second;
    __builtin_memcpy(out, &first, sizeof first);
#elif defined(__AVX2__)
    // Sums of neighbours, then of the halves.
    const auto totals = [&](int half) {
        const auto part = [&](int r) { return (__m256d)(half ? sums[r].high : sums[r].low).v; };
        const __m256d low = _mm256_hadd_pd(part(0), part(1)), high = _mm256_hadd_pd(part(2), part(3));
        return _mm256_add_pd(_mm256_permute2f128_pd(low, high, 0x20), _mm256_permute2f128_pd(low, high, 0x31));
    };
    _mm256_storeu_pd(out, _mm256_add_pd(totals(0), totals(1)));
#else
    for (int r = 0; r < 4; ++r) out[r] = total(sums[r]);
#endif
}

void add_products(std::int64_t rows, std::int64_t n, const float* coef, const float* values, std::int64_t stride,
                  double* sums) {
    for (std::int64_t r = 0; r < rows; ++r, values += stride, sums += lanes) {
        const float* const row[1] = {values};
        v8 sum[1] = {v8::load(sums)};
        float4 none[4];
        sums_of_products<1, false>(n, coef, row, sum, none);
        sum[0].store(sums);
    }
}

template <int R, bool peaked>
void products_of_rows(std::int64_t count, const std::int64_t* n, const float* coef, const std::int64_t* coef_at,
                      const float* const* values, const std::int64_t* value_at, double* out, float* peaks) {
    for (std::int64_t k = 0; k < count; ++k, out += product_rows) {
        const float* const a = coef + coef_at[k];
        const float* rows[R];
        for (int r = 0; r < R; ++r) rows[r] = values[r] + value_at[k];
        v8 sums[R];
        float4 most[4] = {};
        for (int r = 0; r < R; ++r) sums[r] = v8::splat(0);
        sums_of_products<R, peaked>(n[k], a, rows, sums, most);
        if constexpr (R == product_rows)
            store_totals(sums, out);
        else
            for (int r = 0; r < R; ++r) out[r] = total(sums[r]);
        if constexpr (peaked) store_peaks(most, peaks);
        for (std::int64_t s = n[k] / lanes * lanes; s < n[k]; ++s)
            for (int r = 0; r < R; ++r) {
                out[r] += static_cast<double>(a[s]) * static_cast<double>(rows[r][s]);
                if constexpr (peaked) peaks[r] = rows[r][s] > peaks[r] ? rows[r][s] : peaks[r];
            }
        if constexpr (peaked) peaks += product_rows;
    }
}

void center(std::int64_t d, double factor, const double* z, const double* center, const double* weights,
            const std::int32_t* place, float* out, double* sums) {
    v8 squares = v8::splat(0), weighted = squares, lost = squares;
    const auto take = [&](const double* numbers, const double* centers, const double* of, float* rounded) {
        const v8 exact = (v8::load(numbers) - v8::load(centers)) * factor;
        const f8 single = narrowed(exact);
        const v8 stored = widened(single);
        const v8 square = stored * stored, off = exact - stored;
        squares += square;
        weighted += square * v8::load(of);
        lost += off * off;
        single.store(rounded);
    };
    float rounded[lanes];
    constexpr int ahead = 512;  // numbers: processors do not prefetch beyond a page
    std::int64_t c = 0;
    for (; c + lanes <= d; c += lanes) {
        __builtin_prefetch(z + c + ahead);
        take(z + c, center + c, weights + c, rounded);
        for (int i = 0; i < lanes; ++i) out[place[c + i]] = rounded[i];
    }
    if (c < d) {
        double last[3][lanes] = {};
        const std::int64_t left = d - c;
        for (std::int64_t i = 0; i < left; ++i) last[0][i] = z[c + i], last[1][i] = center[c + i];
        for (std::int64_t i = 0; i < left; ++i) last[2][i] = weights[c + i];
        take(last[0], last[1], last[2], rounded);
        for (std::int64_t i = 0; i < left; ++i) out[place[c + i]] = rounded[i];
    }
    sums[0] = total(squares);
    sums[1] = total(weighted);
    sums[2] = total(lost);
}

}  // namespace

extern const ProductLoops products_table;
const ProductLoops products_table = {
    add_products,
    [](int rows, auto... of) {
        by_number<product_rows>(rows, [&](auto now) { products_of_rows<now.value, false>(of..., nullptr); });
    },
    [](int rows, std::int64_t count, const std::int64_t* n, const float* coef, const float* const* values,
       const std::int64_t* value_at, double* out, float* peaks) {
        by_number<product_rows>(rows, [&](auto now) {
            products_of_rows<now.value, true>(count, n, coef, value_at, values, value_at, out, peaks);
        });
    },
    center,
};

}  // namespace fastsvm::FASTSVM_ISA

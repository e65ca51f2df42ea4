#include "simd/loops.h"

#include "simd/wide.h"

namespace fastsvm::FASTSVM_ISA {
namespace {

// Two registers, at most eight numbers: two sums of each of three take twelve of sixteen registers.
constexpr int pair_lanes = 2 * doubles < lanes ? 2 * doubles : lanes;
typedef Wide<double, pair_lanes> Pair;

// Loads once for several products: GCC would reload, and on AVX-512 a load costs as much as a product. Other
// instruction sets have no spare registers.
FASTSVM_INLINE Pair shared(Pair x) {
#if defined(__AVX512F__)
    asm("" : "+v"(x.v));
#endif
    return x;
}

// Several polynomials side by side: a Pair per coefficient. One: a double.
template <class Number> constexpr int beside = lanes;
template <> constexpr int beside<double> = 1;

template <class Number, class Top> FASTSVM_INLINE Number coefficient(const Top* p) {
    if constexpr (beside<Number> == 1)
        return static_cast<double>(*p);
    else if constexpr (sizeof(Top) == sizeof(double))
        return Pair::load(p);
    else
        return widened(Wide<float, pair_lanes>::load(p));
}

// Horner's rule down the packing: sum_a x_a (level1_a + sum_{b>=a} x_b (level2_ab + ...)); at K = 1, a plain product
// with `top`. base: the sub-block's first column; d: its variables.
template <int K, class Number, class Top> struct Sparse {
    static Number evaluate(const double* const* levels, const Top* top, std::int64_t d, std::int64_t base,
                           std::int64_t count, const std::int32_t* columns, const double* x) {
        Number total{};
        for (std::int64_t a = 0; a < count; ++a) {
            const std::int64_t j = columns[a] - base;
            const double* inner[K > 1 ? K - 1 : 1];
            for (int k = 2; k < K; ++k) inner[k - 2] = levels[k - 1] + packed_offset(k, d, j) * beside<Number>;
            total += x[a] * (coefficient<Number>(levels[0] + j * beside<Number>) +
                             Sparse<K - 1, Number, Top>::evaluate(inner, top + packed_offset(K, d, j) * beside<Number>,
                                                                  d - j, columns[a], count - a, columns + a, x + a));
        }
        return total;
    }
};
template <class Number, class Top> struct Sparse<1, Number, Top> {
    static FASTSVM_INLINE Number evaluate(const double* const*, const Top* top, std::int64_t, std::int64_t base,
                                          std::int64_t count, const std::int32_t* columns, const double* x) {
        const Top* const row = top - base * beside<Number>;
        Number s[4]{};
        std::int64_t b = 0;
        const auto add = [&](Number& sum) {
            sum += coefficient<Number>(row + std::int64_t{columns[b]} * beside<Number>) * x[b];
            ++b;
        };
        while (b + 4 <= count)
            for (int i = 0; i < 4; ++i) add(s[i]);
        while (b < count) add(s[0]);
        return (s[0] + s[1]) + (s[2] + s[3]);
    }
};

template <int K, class Top> struct Dense {
    static v8 evaluate(const double* const* levels, const Top* top, std::int64_t d, const double* x) {
        v8 total = splat(0);
        for (std::int64_t j = 0; j < d; ++j) {
            const double* inner[K > 1 ? K - 1 : 1];
            for (int k = 2; k < K; ++k) inner[k - 2] = levels[k - 1] + packed_offset(k, d, j);
            total +=
                load(x + j * lanes) *
                (levels[0][j] + Dense<K - 1, Top>::evaluate(inner, top + packed_offset(K, d, j), d - j, x + j * lanes));
        }
        return total;
    }
};
template <class Top> struct Dense<1, Top> {
    static v8 evaluate(const double* const*, const Top* top, std::int64_t d, const double* x) {
        v8 s0 = splat(0), s1 = splat(0);
        std::int64_t k = 0;
        for (; k + 2 <= d; k += 2) {
            s0 += static_cast<double>(top[k]) * load(x + k * lanes);
            s1 += static_cast<double>(top[k + 1]) * load(x + (k + 1) * lanes);
        }
        if (k < d) s0 += static_cast<double>(top[k]) * load(x + k * lanes);
        return s0 + s1;
    }
};

// Rows of the triangle share loads of x and conversions. Sums are those of Dense<1> to the last digit: products
// alternate between two sums.
template <class Top> struct Dense<2, Top> {
    static v8 evaluate(const double* const* levels, const Top* top, std::int64_t d, const double* x) {
        v8 total = splat(0);
        if constexpr (pair_lanes == lanes) {
            evaluate(levels[0], top, d, x, total);
        } else {
            double sums[lanes];
            for (int at = 0; at < lanes; at += pair_lanes) {
                Pair sum = Pair::splat(0);
                evaluate(levels[0], top, d, x + at, sum);
                sum.store(sums + at);
            }
            total = load(sums);
        }
        return total;
    }

private:
    static constexpr int band = 3;

    static FASTSVM_INLINE void evaluate(const double* linear, const Top* top, std::int64_t d, const double* x,
                                        Pair& total) {
        for (; d >= band; d -= band, linear += band, x += band * lanes) {
            add_rows<band>(linear, top, d, x, total);
            top += band * d - band * (band - 1) / 2;
        }
        if (d == 2) add_rows<2>(linear, top, d, x, total);
        if (d == 1) add_rows<1>(linear, top, d, x, total);
    }
    // First R rows of the triangle.
    template <int R>
    static FASTSVM_INLINE void add_rows(const double* linear, const Top* top, std::int64_t d, const double* x,
                                        Pair& total) {
        constexpr std::int64_t column_block = 128;  // even, so that a column block begins with the row's current sum
        const Top* row[R];
        Pair s[R][2];
        for (int i = 0; i < R; ++i) {
            row[i] = top;
            top += d - i;
            s[i][0] = s[i][1] = Pair::splat(0);
            for (int k = i; k < R; ++k)
                s[i][(k - i) & 1] += static_cast<double>(row[i][k - i]) * Pair::load(x + k * lanes);
            row[i] += R - i;
        }
        for (std::int64_t from = 0; from < d - R; from += column_block) {
            const std::int64_t n = d - R - from < column_block ? d - R - from : column_block;
            double converted[R][column_block];
            const double* numbers[R];
            for (int i = 0; i < R; ++i) numbers[i] = as_double(row[i] + from, n, converted[i]);
            add_products<R>(n, numbers, x + (R + from) * lanes, s);
        }
        for (int i = 0; i < R; ++i) total += Pair::load(x + i * lanes) * (linear[i] + (s[i][0] + s[i][1]));
    }
    static FASTSVM_INLINE const double* as_double(const double* numbers, std::int64_t, double*) { return numbers; }
    static FASTSVM_INLINE const double* as_double(const float* numbers, std::int64_t n, double* converted) {
        for (std::int64_t k = 0; k < n; ++k) converted[k] = static_cast<double>(numbers[k]);
        return converted;
    }
    // Row i has had R - i products.
    template <int R>
    static FASTSVM_INLINE void add_products(std::int64_t n, const double* const* row, const double* x,
                                            Pair (&s)[R][2]) {
        std::int64_t k = 0;
        for (; k + 2 <= n; k += 2) {
            const Pair first = shared(Pair::load(x + k * lanes)), second = shared(Pair::load(x + (k + 1) * lanes));
            for (int i = 0; i < R; ++i) s[i][(R - i) & 1] += row[i][k] * first;
            for (int i = 0; i < R; ++i) s[i][(R - i + 1) & 1] += row[i][k + 1] * second;
        }
        if (k < n)
            for (int i = 0; i < R; ++i) s[i][(R - i) & 1] += row[i][k] * Pair::load(x + k * lanes);
    }
};

// Columns of R rows are interleaved.
template <int K, int R, class Top> struct DensePanel {
    static void evaluate(const double* const* levels, const Top* top, std::int64_t d, const double* x,
                         Pair (&total)[R]) {
        for (Pair& sum : total) sum = Pair::splat(0);
        const double* linear = levels[0];
        const double* from[K > 1 ? K - 1 : 1];
        for (int k = 2; k < K; ++k) from[k - 2] = levels[k - 1];
        for (; d > 0; --d, linear += lanes, x += lanes) {
            Pair inner[R];
            DensePanel<K - 1, R, Top>::evaluate(from, top, d, x, inner);
            for (int r = 0; r < R; ++r) total[r] += x[r] * (Pair::load(linear) + inner[r]);
            for (int k = 2; k < K; ++k) from[k - 2] += packed_size(k - 1, d) * lanes;
            top += packed_size(K - 1, d) * lanes;
        }
    }
};
template <int R, class Top> struct DensePanel<1, R, Top> {
    static FASTSVM_INLINE void evaluate(const double* const*, const Top* top, std::int64_t d, const double* x,
                                        Pair (&total)[R]) {
        Pair s[2][R];
        for (auto& sums : s)
            for (Pair& sum : sums) sum = Pair::splat(0);
        const auto add = [&](Pair(&sums)[R], std::int64_t k) {
            const Pair c = shared(coefficient<Pair>(top + k * lanes));
            for (int r = 0; r < R; ++r) sums[r] += c * x[k * lanes + r];
        };
        std::int64_t k = 0;
        for (; k + 2 <= d; k += 2) {
            add(s[0], k);
            add(s[1], k + 1);
        }
        if (k < d) add(s[0], k);
        for (int r = 0; r < R; ++r) total[r] = s[0][r] + s[1][r];
    }
};

template <class Top>
double sparse(int degree, const double* const* levels, const Top* top, std::int64_t d, std::int64_t count,
              const std::int32_t* columns, const double* x) {
    return by_number<max_degree>(
        degree, [&](auto k) { return Sparse<k.value, double, Top>::evaluate(levels, top, d, 0, count, columns, x); });
}

template <class Top>
void dense(int degree, const double* const* levels, const Top* top, std::int64_t d, const double* x, double* out) {
    by_number<max_degree>(degree, [&](auto k) { store(out, Dense<k.value, Top>::evaluate(levels, top, d, x)); });
}

template <class Part> FASTSVM_INLINE void each_pair(int degree, const double* const* levels, Part part) {
    const double* here[max_degree];
    for (int at = 0; at < lanes; at += pair_lanes) {
        for (int k = 0; k < degree; ++k) here[k] = levels[k] + at;
        part(here, at);
    }
}

template <class Top>
void sparse_panel(int degree, const double* const* levels, const Top* top, std::int64_t d, std::int64_t count,
                  const std::int32_t* columns, const double* x, double* out) {
    each_pair(degree, levels, [&](const double* const* here, int at) {
        by_number<max_degree>(degree, [&](auto k) {
            Sparse<k.value, Pair, Top>::evaluate(here, top + at, d, 0, count, columns, x).store(out + at);
        });
    });
}

template <int R, class Top>
void row_panel_of(int degree, const double* const* levels, const Top* top, std::int64_t d, const double* x,
                  double* out) {
    Pair total[R];
    by_number<max_degree>(degree, [&](auto k) { DensePanel<k.value, R, Top>::evaluate(levels, top, d, x, total); });
    for (int r = 0; r < R; ++r) total[r].store(out + r * lanes);
}

template <class Top>
void dense_panel(int degree, const double* const* levels, const Top* top, std::int64_t d, int rows, const double* x,
                 double* out) {
    each_pair(degree, levels, [&](const double* const* here, int at) {
        int r = 0;
        for (; r + 3 <= rows; r += 3) row_panel_of<3>(degree, here, top + at, d, x + r, out + r * lanes + at);
        if (r + 2 == rows) return row_panel_of<2>(degree, here, top + at, d, x + r, out + r * lanes + at);
        if (r + 1 == rows) row_panel_of<1>(degree, here, top + at, d, x + r, out + r * lanes + at);
    });
}

}  // namespace

extern const PolynomialLoops<float> single_polynomials;
const PolynomialLoops<float> single_polynomials = {sparse<float>, dense<float>, sparse_panel<float>,
                                                   dense_panel<float>};
extern const PolynomialLoops<double> double_polynomials;
const PolynomialLoops<double> double_polynomials = {sparse<double>, dense<double>, sparse_panel<double>,
                                                    dense_panel<double>};

}  // namespace fastsvm::FASTSVM_ISA

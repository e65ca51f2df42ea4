// Compiled once per instruction set, which FASTSVM_ISA names (see isa.h).
#include "simd/loops.h"

#include "simd/wide.h"

#ifdef __AVX2__
namespace fastsvm::avx2 {
extern const TextLoops text;  // longer registers gain nothing
}
#endif

namespace fastsvm::FASTSVM_ISA {
namespace {

typedef Wide<double, panel> Whole;
static_assert(lanes == 8 && lanes % doubles == 0, "whole registers");

void panel_dots(const double* block, std::int64_t count, const std::int32_t* columns, const double* x, double* out) {
    Whole sums = Whole::splat(0);
    for (std::int64_t e = 0; e < count; ++e)
        sums += x[e] * Whole::load(block + static_cast<std::int64_t>(columns[e]) * panel);
    sums.store(out);
}

void panel_distances(const double* block, std::int64_t d, const double* x, double outside, double* out) {
    Whole sums = Whole::splat(outside);
    for (std::int64_t c = 0; c < d; ++c, block += panel) {
        const Whole difference = Whole::load(block) - x[c];
        sums += difference * difference;
    }
    sums.store(out);
}

// Four sums of every fourth product, for `groups` times `lanes` vectors: keeps the processor busy.
template <int groups>
inline void some_dots(const double* block, std::int64_t count, const std::int32_t* columns, const double* x,
                      double* out) {
    v8 s[4][groups];
    for (int i = 0; i < 4; ++i)
        for (int g = 0; g < groups; ++g) s[i][g] = splat(0);
    std::int64_t e = 0;
    for (; e + 4 <= count; e += 4)
        for (int i = 0; i < 4; ++i) {
            const double* const b = block + static_cast<std::int64_t>(columns[e + i]) * panel;
            for (int g = 0; g < groups; ++g) s[i][g] += x[e + i] * load(b + g * lanes);
        }
    for (; e < count; ++e) {
        const double* const b = block + static_cast<std::int64_t>(columns[e]) * panel;
        for (int g = 0; g < groups; ++g) s[0][g] += x[e] * load(b + g * lanes);
    }
    for (int g = 0; g < groups; ++g) store(out + g * lanes, (s[0][g] + s[1][g]) + (s[2][g] + s[3][g]));
}

void part_dots(const double* block, std::int64_t n, std::int64_t count, const std::int32_t* columns, const double* x,
               double* out) {
#ifdef __AVX512F__
    for (; n >= 2 * lanes; n -= 2 * lanes, block += 2 * lanes, out += 2 * lanes)
        some_dots<2>(block, count, columns, x, out);
#endif
    for (; n > 0; n -= lanes, block += lanes, out += lanes) some_dots<1>(block, count, columns, x, out);
}

// `vectors` times `groups` sums, in parts that keep the processor busy.
template <int vectors, int groups>
inline void some_products(std::int64_t count, const double* rows, const double* const* x, std::int64_t stride,
                          double* out) {
    constexpr int parts = 4 / vectors;
    const double* from[vectors];
    for (int v = 0; v < vectors; ++v) from[v] = x[v];
    v8 s[parts][vectors][groups];
    for (int i = 0; i < parts; ++i)
        for (int v = 0; v < vectors; ++v)
            for (int g = 0; g < groups; ++g) s[i][v][g] = splat(0);
    const auto add = [&](v8(&sums)[vectors][groups], std::int64_t at) {
        for (int g = 0; g < groups; ++g) {
            const v8 z = load(rows + g * lanes);
            for (int v = 0; v < vectors; ++v) sums[v][g] += from[v][at] * z;
        }
        rows += panel;
    };
    std::int64_t c = 0, at = 0;
    for (; c + parts <= count; c += parts)
        for (int i = 0; i < parts; ++i, at += stride) add(s[i], at);
    for (; c < count; ++c, at += stride) add(s[0], at);
    for (int v = 0; v < vectors; ++v)
        for (int g = 0; g < groups; ++g) {
            v8 total = s[0][v][g];
            for (int i = 1; i < parts; ++i) total += s[i][v][g];
            store(out + v * panel + g * lanes, total);
        }
}

template <int vectors>
inline void some_rows(std::int64_t n, std::int64_t count, const double* rows, const double* const* x,
                      std::int64_t stride, double* out) {
#ifdef __AVX512F__  // elsewhere two groups need too many registers
    for (; n >= 2 * lanes; n -= 2 * lanes, rows += 2 * lanes, out += 2 * lanes)
        some_products<vectors, 2>(count, rows, x, stride, out);
#endif
    for (; n > 0; n -= lanes, rows += lanes, out += lanes) some_products<vectors, 1>(count, rows, x, stride, out);
}

void tile_dots(int vectors, std::int64_t n, std::int64_t count, const double* rows, const double* const* x,
               std::int64_t stride, double* out) {
    switch (vectors) {
        case 1: return some_rows<1>(n, count, rows, x, stride, out);
        case 2: return some_rows<2>(n, count, rows, x, stride, out);
        default: return some_rows<4>(n, count, rows, x, stride, out);
    }
}

// Two registers of columns at a time: four rows' sums stay in registers.
void panel_products(const double* block, std::int64_t count, const double* const* x, double* const* out) {
    typedef Wide<double, 2 * doubles> Pair;
    const double* const row[4] = {x[0], x[1], x[2], x[3]};
    for (int at = 0; at < panel; at += 2 * doubles) {
        Pair sums[4];
        for (Pair& sum : sums) sum = Pair::splat(0);
        const double* from = block + at;
        for (std::int64_t i = 0; i < count; ++i, from += panel) {
            const Pair columns = Pair::load(from);
            for (int r = 0; r < 4; ++r) sums[r] += row[r][i] * columns;
        }
        for (int r = 0; r < 4; ++r) sums[r].store(out[r] + at);
    }
}

// values[s] = exp(exponent(s)), exponents at most 0: four registers in step.
template <class Exponent> FASTSVM_INLINE void exponentials(std::int64_t n, double* values, Exponent exponent) {
    constexpr int in_step = 4 * doubles / lanes > 0 ? 4 * doubles / lanes : 1;
    std::int64_t s = 0;
    for (; s + in_step * lanes <= n; s += in_step * lanes) {
        v8 x[in_step];
        for (int i = 0; i < in_step; ++i) x[i] = exponent(s + i * lanes);
        exp_nonpositive(x);
        for (int i = 0; i < in_step; ++i) store(values + s + i * lanes, x[i]);
    }
    for (; s < n; s += lanes) {
        v8 x[1] = {exponent(s)};
        exp_nonpositive(x);
        store(values + s, x[0]);
    }
}

void rbf_from_dots(std::int64_t n, double gamma, double norm, const double* norms, double* values) {
    exponentials(n, values,
                 [&](std::int64_t s) { return rbf_exponent(gamma, norm + load(norms + s), load(values + s)); });
}

void exp_of_norms(std::int64_t n, double gamma, double* values) {
    exponentials(n, values, [&](std::int64_t s) { return -gamma * load(values + s); });
}

void polynomial_from_dots(std::int64_t n, double gamma, double coef0, int degree, double* values) {
    for (std::int64_t s = 0; s < n; s += lanes) {
        v8 power = gamma * load(values + s) + coef0, result = splat(1);
        for (int t = degree; t > 0; t /= 2) {
            if (t % 2 == 1) result *= power;
            power *= power;
        }
        store(values + s, result);
    }
}

// fixed: number of degrees, if their sums fit registers, else 0.
template <int fixed, bool far>
void some_degree_terms(std::int64_t n, const DegreeSeries& series, double weight, double bare, double norm,
                       const double* dots, const double* weights, const double* bares, const double* norms,
                       double* sums) {
    const int count = fixed > 0 ? fixed : series.to - series.from + 1;
    const vd zero = vd::splat(0), most = vd::splat(12.0);
    vd total[fixed > 0 ? fixed : most_degrees];
    for (int k = 0; k < count; ++k) total[k] = zero;
    vd rest = zero;
    for (std::int64_t s = 0; s < n; s += lanes) {
        const vd x = series.scale * vd::load(dots + s);
        vd term = weight * vd::load(weights + s), partial = term;  // a x^k, and the sum of a x^k / k!
        for (int k = 1; k < series.from; ++k) {
            term *= x;
            if (far) partial += series.inverse_factorial[k] * term;
        }
        for (int k = 0; k < count; ++k) {
            term *= x;
            total[k] += term;
            if (far) partial += series.inverse_factorial[series.from + k] * term;
        }
        // x^(to+1) (1/(to+1)! + x (1/(to+2)! + x (...)))
        vd tail = vd::splat(series.inverse_factorial[series.to + series.terms]);
        for (int k = series.to + series.terms - 1; k > series.to; --k) tail = tail * x + series.inverse_factorial[k];
        tail *= term * x;
        if (far) {
            vd exponent[1] = {x - (norm + vd::load(norms + s))};
            exponent[0] = smaller(zero, exponent[0]);
            exp_nonpositive(exponent);
            const vd difference = bare * vd::load(bares + s) * exponent[0] - partial;
            const vd size = where_less(x, zero, zero - x, x);
            tail = where_less(most, size, difference, tail);
        }
        rest += tail;
    }
    for (int k = 0; k < count; ++k, sums += lanes)
        (vd::load(sums) + series.inverse_factorial[series.from + k] * total[k]).store(sums);
    (vd::load(sums) + rest).store(sums);
}

void degree_terms(std::int64_t n, const DegreeSeries& series, double weight, double bare, double norm,
                  const double* dots, const double* weights, const double* bares, const double* norms, double* sums) {
    const bool five = series.to - series.from == 4;  // as in every certificate
    const auto terms = series.far ? (five ? some_degree_terms<5, true> : some_degree_terms<0, true>)
                                  : (five ? some_degree_terms<5, false> : some_degree_terms<0, false>);
    for (int part = 0; part < lanes; part += doubles)
        terms(n, series, weight, bare, norm, dots + part, weights + part, bares + part, norms + part, sums + part);
}

double dot(std::int64_t n, const double* a, const double* b) {
    v8 s0 = splat(0), s1 = splat(0);
    std::int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        s0 += load(a + i) * load(b + i);
        s1 += load(a + i + lanes) * load(b + i + lanes);
    }
    if (i + lanes <= n) {
        s0 += load(a + i) * load(b + i);
        i += lanes;
    }
    s0 += s1;
    double sum = total(s0);
    for (; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

void add_scaled(std::int64_t n, double x, const double* w, double* out) {
    for (std::int64_t p = 0; p < n; ++p) out[p] += x * w[p];
}

void count_certain(std::int64_t n, double rho, double width, const double* rest, const double* sums, double* count) {
    for (std::int64_t r = 0; r < n; r += lanes) {
        const v8 value = load(sums + r) - rho;
        store(count + r, load(count + r) + where_at_most(width * load(rest + r), value * value, splat(1), splat(0)));
    }
}

void row_distances(std::int64_t n, double nearest, double farthest, bool squared, const double* low, const double* high,
                   double* near, double* far) {
    for (std::int64_t r = 0; r < n; r += lanes) {
        const v8 inside = nearest - load(high + r), beyond = load(low + r) - farthest, most = farthest + load(high + r);
        const v8 least = larger(larger(inside, beyond), splat(0));
        store(near + r, squared ? least * least : least);
        store(far + r, squared ? most * most : most);
    }
}

void count_decided(std::int64_t n, double rho, double positive, double negative, const double* largest,
                   const double* smallest, const double* sums, double* count) {
    const v8 zero = splat(0), one = splat(1);
    for (std::int64_t r = 0; r < n; r += lanes) {
        const v8 value = load(sums + r) - rho, most = load(largest + r), least = load(smallest + r);
        const v8 low = value + positive * least - negative * most, high = value + positive * most - negative * least;
        store(count + r, load(count + r) + where_less(zero, low, one, where_at_most(high, zero, one, zero)));
    }
}

std::int64_t certain_sums(std::int64_t n, const double* rho, const double* widths, double rest, const double* sums) {
    std::int64_t count = 0;
    for (std::int64_t p = 0; p < n; ++p) {
        const double value = sums[p] - rho[p];
        count += value * value >= widths[p] * rest;
    }
    return count;
}

#define FASTSVM_TEXT_(x) #x
#define FASTSVM_TEXT(x) FASTSVM_TEXT_(x)

}  // namespace

extern const ReferenceLoops narrow_reference, wide_reference;
extern const PolynomialLoops<float> single_polynomials;
extern const PolynomialLoops<double> double_polynomials;
extern const TileLoops tiles;
extern const ProductLoops products_table;
extern const GridLoops grid;
#ifndef __AVX2__
extern const TextLoops text;
#endif
extern const Loops table;
const Loops table = {
    FASTSVM_TEXT(FASTSVM_ISA),
    &single_polynomials,
    &double_polynomials,
    panel_dots,
    panel_distances,
    tile_dots,
    part_dots,
    panel_products,
    rbf_from_dots,
    exp_of_norms,
    polynomial_from_dots,
    degree_terms,
    dot,
    add_scaled,
    &narrow_reference,
    &wide_reference,
    &grid,
    count_certain,
    row_distances,
    count_decided,
    certain_sums,
    &tiles,
    &products_table,
#ifdef __AVX2__
    &avx2::text,
#else
    &text,
#endif
};

}  // namespace fastsvm::FASTSVM_ISA

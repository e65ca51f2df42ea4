// Proofs for single precision: B22 to B25 in PROOFS.md, with or without contraction.
#include "simd/tiles.h"

#include "simd/exponential.h"
#include "simd/loops.h"
#include "simd/wide.h"

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

constexpr int floats = register_bytes / 4, doubles = register_bytes / 8;
typedef Wide<float, floats> vf;
typedef Wide<double, doubles> vd;

// R rows by two registers of vectors; tile[2 r]: row r with vectors at, at + 1, ...; tile[2 r + 1]: the next register.
template <int R, class V, class T> FASTSVM_INLINE void load_tile(V (&tile)[2 * R], const T* const (&from)[R]) {
    constexpr int width = sizeof(V) / sizeof(T);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int h = 0; h < 2; ++h) tile[2 * r + h] = V::load(from[r] + h * width);
}

template <int R, class V, class T> FASTSVM_INLINE void store_tile(const V (&tile)[2 * R], T* const (&to)[R]) {
    constexpr int width = sizeof(V) / sizeof(T);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int h = 0; h < 2; ++h) tile[2 * r + h].store(to[r] + h * width);
}

// Each sum is of one row and vector, in column order, so R does not matter.
template <int R, class V, class T>
FASTSVM_INLINE void add_columns(std::int64_t d, const T* z, const T* x, V (&tile)[2 * R]) {
    constexpr int width = sizeof(V) / sizeof(T);
    for (std::int64_t c = 0; c < d; ++c, z += row_panel, x += panel) {
        const V x0 = V::load(x), x1 = V::load(x + width);
#pragma GCC unroll 6
        for (int r = 0; r < R; ++r) {
            tile[2 * r] += z[r] * x0;
            tile[2 * r + 1] += z[r] * x1;
        }
    }
}

// Exponentials of a tile, n in step, which leaves enough registers.
template <int R, class V, class Exponential> FASTSVM_INLINE void in_steps(V (&tile)[2 * R], Exponential exponential) {
    constexpr int n = R % 3 == 0 ? 6 : R % 2 == 0 ? 4 : 2;
#pragma GCC unroll 8
    for (int at = 0; at < 2 * R; at += n) {
        V values[n];
#pragma GCC unroll 8
        for (int i = 0; i < n; ++i) values[i] = tile[at + i];
        exponential(values);
#pragma GCC unroll 8
        for (int i = 0; i < n; ++i) tile[at + i] = values[i];
    }
}

template <int R> FASTSVM_INLINE void powers_from_dots(const float* row_norms, const float* norms, vf (&tile)[2 * R]) {
    const vf norms0 = vf::load(norms), norms1 = vf::load(norms + floats);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
        tile[2 * r] = (row_norms[r] + norms0) - 2.0F * tile[2 * r];
        tile[2 * r + 1] = (row_norms[r] + norms1) - 2.0F * tile[2 * r + 1];
    }
    in_steps<R>(tile, [](auto& values) { negative_powers(values); });
}

template <int R>
void single_rows(std::int64_t vectors, std::int64_t d, bool first, bool last, const float* z, const float* row_norms,
                 const float* x, const float* norms, float* out, std::int64_t stride) {
    for (int at = 0; at < vectors; at += 2 * floats) {
        float* to[R];
        for (int r = 0; r < R; ++r) to[r] = out + at + r * stride;
        vf tile[2 * R];
#pragma GCC unroll 12
        for (vf& sum : tile) sum = vf::splat(0);
        add_columns<R>(d, z, x + at, tile);
        if (!first)
#pragma GCC unroll 12
            for (int i = 0; i < 2 * R; ++i) tile[i] += vf::load(to[i / 2] + i % 2 * floats);
        if (last) powers_from_dots<R>(row_norms, norms + at, tile);
        store_tile<R>(tile, to);
    }
}

// Widens x; if it has more than `lanes` numbers, halves are added first.
template <class V> FASTSVM_INLINE void add_widened(V x, double* sums) {
    const auto add = [&](auto terms) { (decltype(terms)::load(sums) + terms).store(sums); };
    if constexpr (floats > lanes)
        add(widened_halves(x));
    else
        add(widened(x));
}

template <int R>
void single_sums_rows(std::int64_t panels, std::int64_t d, const float* z, const float* row_norms, const float* x,
                      const float* norms, const float* coef, double* sums) {
    constexpr int width = 2 * floats, tiles = 2 * width <= panel ? 2 : 1;
    for (std::int64_t s = 0; s < panels; ++s, x += d * panel, norms += panel, coef += panel)
        for (int at = 0; at < panel;) {
            vf few[R];  // of up to four terms
            for (vf& sum : few) sum = vf::splat(0);
            for (int t = 0; t < tiles; ++t, at += width) {
                vf tile[2 * R];
                for (vf& sum : tile) sum = vf::splat(0);
                add_columns<R>(d, z, x + at, tile);
                powers_from_dots<R>(row_norms, norms + at, tile);
                const vf a = vf::load(coef + at), b = vf::load(coef + at + floats);
                for (int r = 0; r < R; ++r) {
                    few[r] += a * tile[2 * r];
                    few[r] += b * tile[2 * r + 1];
                }
            }
            for (int r = 0; r < R; ++r) add_widened(few[r], sums + r * lanes);
        }
}

template <int R>
void double_dots_rows(std::int64_t d, bool first, const double* z, const double* x, double* const* out) {
    for (int at = 0; at < panel; at += 2 * doubles) {
        double* to[R];
        for (int r = 0; r < R; ++r) to[r] = out[r] + at;
        vd tile[2 * R];
        if (first)
            for (vd& sum : tile) sum = vd::splat(0);
        else
            load_tile<R>(tile, reinterpret_cast<const double* const(&)[R]>(to));
        add_columns<R>(d, z, x + at, tile);
        store_tile<R>(tile, to);
    }
}

// In dot's order (loops.cpp): eights of vectors alternate between two sums of `lanes` numbers.
template <int R>
void double_sums_rows(std::int64_t panels, std::int64_t d, double gamma, const double* z, const double* row_norms,
                      const double* x, const double* norms, const double* coef, double* sums) {
    for (std::int64_t s = 0; s < panels; ++s, x += d * panel, norms += panel, coef += panel)
        for (int at = 0; at < panel; at += 2 * doubles) {
            vd tile[2 * R];
            for (vd& sum : tile) sum = vd::splat(0);
            add_columns<R>(d, z, x + at, tile);
            for (int h = 0; h < 2; ++h) {
                const vd of_vectors = vd::load(norms + at + h * doubles);
                for (int r = 0; r < R; ++r)
                    tile[2 * r + h] = rbf_exponent(gamma, row_norms[r] + of_vectors, tile[2 * r + h]);
            }
            in_steps<R>(tile, [](auto& values) { exp_nonpositive(values); });
            for (int h = 0; h < 2; ++h) {
                const int from = at + h * doubles;
                const vd factor = vd::load(coef + from);
                double* const to = sums + from % (2 * lanes);
                for (int r = 0; r < R; ++r)
                    (vd::load(to + r * 2 * lanes) + factor * tile[2 * r + h]).store(to + r * 2 * lanes);
            }
        }
}

#define FASTSVM_BY_ROWS(function, ...)            \
    switch (rows) {                               \
        case 1: return function<1>(__VA_ARGS__);  \
        case 2: return function<2>(__VA_ARGS__);  \
        case 3: return function<3>(__VA_ARGS__);  \
        case 4: return function<4>(__VA_ARGS__);  \
        case 5: return function<5>(__VA_ARGS__);  \
        default: return function<6>(__VA_ARGS__); \
    }

void single_powers(int rows, std::int64_t vectors, std::int64_t d, bool first, bool last, const float* z,
                   const float* row_norms, const float* x, const float* norms, float* out, std::int64_t stride) {
    FASTSVM_BY_ROWS(single_rows, vectors, d, first, last, z, row_norms, x, norms, out, stride)
}

void single_sums(int rows, std::int64_t panels, std::int64_t d, const float* z, const float* row_norms, const float* x,
                 const float* norms, const float* coef, double* sums) {
    FASTSVM_BY_ROWS(single_sums_rows, panels, d, z, row_norms, x, norms, coef, sums)
}

void double_dots(int rows, std::int64_t d, bool first, const double* z, const double* x, double* const* out) {
    FASTSVM_BY_ROWS(double_dots_rows, d, first, z, x, out)
}

void double_sums(int rows, std::int64_t panels, std::int64_t d, double gamma, const double* z, const double* row_norms,
                 const double* x, const double* norms, const double* coef, double* sums) {
    FASTSVM_BY_ROWS(double_sums_rows, panels, d, gamma, z, row_norms, x, norms, coef, sums)
}

}  // namespace

extern const TileLoops tiles;
const TileLoops tiles = {single_powers, single_sums, double_dots, double_sums};

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

// Proofs for single precision: B22 to B25 in PROOFS.md, with or without contraction.
#include "simd/loops.h"

#include "simd/wide.h"

namespace fastsvm::FASTSVM_ISA {
namespace {

// Registers of vectors per row. Few rows need more: a sum waits for its previous addition.
template <int R, class V, class T> constexpr int registers_of() {
    constexpr int in_panel = panel * static_cast<int>(sizeof(T)) / static_cast<int>(sizeof(V));
    return R > 2 ? 2 : in_panel < 4 ? in_panel : 4;
}
template <int R> constexpr int singles_of = registers_of<R, vf, float>();
template <int R> constexpr int doubles_of = registers_of<R, vd, double>();

// R rows by W registers of vectors; tile[W r + h]: row r with the register h.
template <int R, int W, class V, class T> FASTSVM_INLINE void store_tile(const V (&tile)[W * R], T* const (&to)[R]) {
    constexpr int width = sizeof(V) / sizeof(T);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 12
        for (int h = 0; h < W; ++h) tile[W * r + h].store(to[r] + h * width);
}

// Each sum is of one row and vector, in column order, so R and W do not matter.
template <int R, int W, class V, class T>
FASTSVM_INLINE void add_columns(std::int64_t d, const T* z, const T* x, V (&tile)[W * R]) {
    constexpr int width = sizeof(V) / sizeof(T);
    for (std::int64_t c = 0; c < d; ++c, z += row_panel, x += panel) {
        V vectors[W];
#pragma GCC unroll 12
        for (int h = 0; h < W; ++h) vectors[h] = V::load(x + h * width);
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 12
            for (int h = 0; h < W; ++h) tile[W * r + h] += z[r] * vectors[h];
    }
}

// Exponentials of a tile, n in step, which leaves enough registers.
template <int count, class V, class Exponential>
FASTSVM_INLINE void in_steps(V (&tile)[count], Exponential exponential) {
    constexpr int n = count % 6 == 0 ? 6 : count % 4 == 0 ? 4 : 2;
#pragma GCC unroll 12
    for (int at = 0; at < count; at += n) {
        V values[n];
#pragma GCC unroll 12
        for (int i = 0; i < n; ++i) values[i] = tile[at + i];
        exponential(values);
#pragma GCC unroll 12
        for (int i = 0; i < n; ++i) tile[at + i] = values[i];
    }
}

template <int R, int W>
FASTSVM_INLINE void powers_from_dots(const float* row_norms, const float* norms, vf (&tile)[W * R]) {
#pragma GCC unroll 12
    for (int h = 0; h < W; ++h) {
        const vf of_vectors = vf::load(norms + h * floats);
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) tile[W * r + h] = (row_norms[r] + of_vectors) - 2.0F * tile[W * r + h];
    }
    in_steps(tile, [](auto& values) { negative_powers(values); });
}

// Functions of their own per number of rows: their loops share no registers.

template <int R>
[[gnu::noinline]] void single_rows(std::int64_t vectors, std::int64_t d, bool first, bool last, const float* z,
                                   const float* row_norms, const float* x, const float* norms, float* out,
                                   std::int64_t stride) {
    constexpr int W = singles_of<R>;
    for (int at = 0; at < vectors; at += W * floats) {
        float* to[R];
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) to[r] = out + at + r * stride;
        vf tile[W * R];
#pragma GCC unroll 12
        for (vf& sum : tile) sum = vf::splat(0);
        add_columns<R, W>(d, z, x + at, tile);
        if (!first)
#pragma GCC unroll 12
            for (int i = 0; i < W * R; ++i) tile[i] += vf::load(to[i / W] + i % W * floats);
        if (last) powers_from_dots<R, W>(row_norms, norms + at, tile);
        store_tile<R, W>(tile, to);
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
[[gnu::noinline]] void single_sums_rows(std::int64_t panels, std::int64_t d, const float* z, const float* row_norms,
                                        const float* x, const float* norms, const float* coef, double* sums) {
    constexpr int W = singles_of<R>, width = W * floats, tiles = W < 4 && 2 * width <= panel ? 2 : 1;
    for (std::int64_t s = 0; s < panels; ++s, x += d * panel, norms += panel, coef += panel)
        for (int at = 0; at < panel;) {
            vf few[R];  // of up to four terms
#pragma GCC unroll 12
            for (vf& sum : few) sum = vf::splat(0);
#pragma GCC unroll 12
            for (int t = 0; t < tiles; ++t, at += width) {
                vf tile[W * R];
#pragma GCC unroll 12
                for (vf& sum : tile) sum = vf::splat(0);
                add_columns<R, W>(d, z, x + at, tile);
                powers_from_dots<R, W>(row_norms, norms + at, tile);
#pragma GCC unroll 12
                for (int h = 0; h < W; ++h) {
                    const vf factor = vf::load(coef + at + h * floats);
#pragma GCC unroll 12
                    for (int r = 0; r < R; ++r) few[r] += factor * tile[W * r + h];
                }
            }
#pragma GCC unroll 12
            for (int r = 0; r < R; ++r) add_widened(few[r], sums + r * lanes);
        }
}

template <int R>
[[gnu::noinline]] void double_dots_rows(std::int64_t d, bool first, const double* z, const double* x,
                                        double* const* out) {
    constexpr int W = doubles_of<R>;
    for (int at = 0; at < panel; at += W * doubles) {
        double* to[R];
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) to[r] = out[r] + at;
        vd tile[W * R];
        if (first)
#pragma GCC unroll 12
            for (vd& sum : tile) sum = vd::splat(0);
        else
#pragma GCC unroll 12
            for (int i = 0; i < W * R; ++i) tile[i] = vd::load(to[i / W] + i % W * doubles);
        add_columns<R, W>(d, z, x + at, tile);
        store_tile<R, W>(tile, to);
    }
}

// In dot's order (loops.cpp): eights of vectors alternate between two sums of `lanes` numbers.
template <int R>
[[gnu::noinline]] void double_sums_rows(std::int64_t panels, std::int64_t d, double gamma, const double* z,
                                        const double* row_norms, const double* x, const double* norms,
                                        const double* coef, double* sums) {
    constexpr int W = doubles_of<R>;
    for (std::int64_t s = 0; s < panels; ++s, x += d * panel, norms += panel, coef += panel)
        for (int at = 0; at < panel; at += W * doubles) {
            vd tile[W * R];
#pragma GCC unroll 12
            for (vd& sum : tile) sum = vd::splat(0);
            add_columns<R, W>(d, z, x + at, tile);
#pragma GCC unroll 12
            for (int h = 0; h < W; ++h) {
                const vd of_vectors = vd::load(norms + at + h * doubles);
#pragma GCC unroll 12
                for (int r = 0; r < R; ++r)
                    tile[W * r + h] = rbf_exponent(gamma, row_norms[r] + of_vectors, tile[W * r + h]);
            }
            in_steps(tile, [](auto& values) { exp_nonpositive(values); });
#pragma GCC unroll 12
            for (int h = 0; h < W; ++h) {
                const int from = at + h * doubles;
                const vd factor = vd::load(coef + from);
                double* const to = sums + from % (2 * lanes);
#pragma GCC unroll 12
                for (int r = 0; r < R; ++r)
                    (vd::load(to + r * 2 * lanes) + factor * tile[W * r + h]).store(to + r * 2 * lanes);
            }
        }
}

}  // namespace

extern const TileLoops tiles;
const TileLoops tiles = {
    [](int rows, auto... of) { by_number<row_panel>(rows, [&](auto now) { single_rows<now.value>(of...); }); },
    [](int rows, auto... of) { by_number<row_panel>(rows, [&](auto now) { single_sums_rows<now.value>(of...); }); },
    [](int rows, auto... of) { by_number<row_panel>(rows, [&](auto now) { double_dots_rows<now.value>(of...); }); },
    [](int rows, auto... of) { by_number<row_panel>(rows, [&](auto now) { double_sums_rows<now.value>(of...); }); },
};

}  // namespace fastsvm::FASTSVM_ISA

// Compiled once per instruction set, as loops.cpp is.
#include "simd/pair_votes.h"

#include <limits>

#include "simd/wide.h"

namespace fastsvm {
namespace FASTSVM_ISA {
namespace {

constexpr int width = register_bytes / static_cast<int>(sizeof(float));
typedef Wide<float, width> vf;
typedef vf::Bits Bits;
constexpr float infinite = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();

static_assert(vote_stride % width == 0, "whole registers");

FASTSVM_INLINE vf magnitude(vf x) { return {(vf::V)((Bits)x.v & 0x7fffffffU)}; }
FASTSVM_INLINE Bits load_bits(const std::int32_t* p) {
    Bits x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
}

// Whether any number of a mask, 0 or all ones each, is not 0.
FASTSVM_INLINE bool any(Bits mask) {
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_ps((__m256)mask) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_ps((__m128)mask) != 0;
#elif defined(FASTSVM_NEON)
    return vmaxvq_u32((uint32x4_t)mask) != 0;
#else
    return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

// v + the values of class i against those from j on, of R rows.
template <int R>
FASTSVM_INLINE void add_values(const PairTables& t, std::int64_t i, std::int64_t j, const float* const (&values)[R],
                               vf (&v)[R]) {
    const std::int64_t first = i * t.vectors * t.stride + j;
    for (std::int64_t s = 0; s < t.vectors * t.stride; s += t.stride) {
        const vf own = vf::load(t.own + first + s), other = vf::load(t.other + first + s);
        _Pragma("GCC unroll 4") for (int r = 0; r < R; ++r) {
            v[r] += own * values[r][s + i];
            v[r] += other * vf::load(values[r] + s + j);
        }
    }
}

std::int64_t measure(const PairTables& t, float relative, float absolute, const PairVotes& row) {
    const vf zero = vf::splat(0);
    float numbers[width];
    for (int k = 0; k < width; ++k) numbers[k] = static_cast<float>(k);
    vf most = vf::splat(-1), nearest = zero, classes = vf::load(numbers);
    for (std::int64_t c = 0; c < t.stride; c += width) {
        vf sum = zero, peak = zero;
        for (std::int64_t s = c; s < t.vectors * t.stride; s += t.stride) {
            const vf largest = vf::load(t.largest + s), value = vf::load(row.values + s);
            sum += largest * value;
            peak = where_less(zero, largest, larger(peak, value), peak);  // not of the filling
        }
        (sum * relative + absolute).store(row.radii + c);
        nearest = where_less(most, peak, classes, nearest);
        most = where_less(most, peak, peak, most);
        classes = classes + static_cast<float>(width);
    }
    int best = 0;
    for (int k = 1; k < width; ++k)
        if (most[k] > most[best]) best = k;
    const std::int64_t found = static_cast<std::int64_t>(nearest[best]);
    return found < t.classes ? found : t.classes - 1;
}

Opponent strongest(const PairTables& t, std::int64_t i, const PairVotes& row) {
    const float* const values[1] = {row.values};
    float numbers[width];
    for (int k = 0; k < width; ++k) numbers[k] = static_cast<float>(k);
    vf least = vf::splat(infinite), of = vf::splat(0), classes = vf::load(numbers);
    for (std::int64_t j = 0; j < t.classes; j += width) {
        vf v[1] = {vf::load(t.rho + i * t.stride + j)};
        add_values(t, i, j, values, v);
        const vf margin = v[0] - vf::load(row.radii + j);
        of = where_less(margin, least, classes, of);  // false for NaN
        least = where_less(margin, least, margin, least);
        classes = classes + static_cast<float>(width);
    }
    int worst = 0;
    for (int k = 1; k < width; ++k)
        if (least[k] < least[worst]) worst = k;
    return {static_cast<std::int64_t>(of[worst]), least[worst]};
}

// The pairs of class i with those from j on whose sign is not proven go to the row's list, and count for nobody: NaN.
__attribute__((noinline)) void set_aside(const PairTables& t, std::int64_t i, std::int64_t j, std::int64_t most,
                                         PairVotes& row, float* v) {
    for (std::int64_t k = 0; k < width && j + k < t.classes; ++k) {
        if (!(__builtin_fabsf(v[k]) <= row.radii[i] + row.radii[j + k])) continue;
        v[k] = none;
        if (row.opened < most) {
            row.open[2 * row.opened] = static_cast<std::int32_t>(i);
            row.open[2 * row.opened + 1] = static_cast<std::int32_t>(j + k);
        }
        ++row.opened;
    }
}

template <int R> void votes_of_rows(const PairTables& t, std::int64_t most, PairVotes* rows) {
    const float* values[R];
    const float* radii[R];
    std::int32_t* low[R];
    for (int r = 0; r < R; ++r) {
        values[r] = rows[r].values, radii[r] = rows[r].radii, low[r] = rows[r].low;
        __builtin_memset(low[r], 0, static_cast<std::size_t>(t.stride) * sizeof *low[r]);
        rows[r].opened = 0;
    }
    // Of a register that i stands in, the classes up to i are no pairs of its own here.
    float hide[2 * width];
    for (int k = 0; k < width; ++k) hide[k] = none, hide[width + k] = 0;
    const vf zero = vf::splat(0);
    for (std::int64_t i = 0; i < t.classes; ++i) {
        Bits lost[R];
        vf own_radius[R];
        std::int64_t before[R];
        for (int r = 0; r < R; ++r) {
            lost[r] = Bits{};
            own_radius[r] = vf::splat(radii[r][i]);
            before[r] = rows[r].opened;
        }
        std::int64_t j = (i + 1) / width * width;
        vf hidden = vf::load(hide + width - (i + 1 - j));
        for (; j < t.classes; j += width) {
            vf v[R];
            const vf rho = vf::load(t.rho + i * t.stride + j) + hidden;
            for (int r = 0; r < R; ++r) v[r] = rho;
            add_values(t, i, j, values, v);
            Bits open{};
            _Pragma("GCC unroll 4") for (int r = 0; r < R; ++r) open |=
                (Bits)(magnitude(v[r]).v <= (own_radius[r] + vf::load(radii[r] + j)).v);  // false for NaN
            if (__builtin_expect(any(open), 0)) {
                for (int r = 0; r < R; ++r) {
                    float each[width];
                    v[r].store(each);
                    set_aside(t, i, j, most, rows[r], each);
                    v[r] = vf::load(each);
                }
            }
            _Pragma("GCC unroll 4") for (int r = 0; r < R; ++r) {
                const Bits loses = (Bits)(v[r].v < zero.v);  // -1 each
                lost[r] -= loses;
                const Bits votes = load_bits(low[r] + j) - loses;
                __builtin_memcpy(low[r] + j, &votes, sizeof votes);
            }
            hidden = zero;
        }
        bool hopeless = true;
        for (int r = 0; r < R; ++r) {
            std::int64_t gone = rows[r].opened - before[r];
            for (int k = 0; k < width; ++k) gone += lost[r][k];
            low[r][i] += static_cast<std::int32_t>(t.classes - 1 - i - gone);
            hopeless = hopeless && rows[r].opened > most;
        }
        if (hopeless) return;
    }
}

void all_pairs(const PairTables& t, std::int64_t most, std::int64_t n, PairVotes* rows) {
    std::int64_t r = 0;
    for (; r + vote_rows <= n; r += vote_rows) votes_of_rows<vote_rows>(t, most, rows + r);
    for (; r < n; ++r) votes_of_rows<1>(t, most, rows + r);
}

}  // namespace

extern const VoteLoops votes_table;
const VoteLoops votes_table = {measure, strongest, all_pairs};

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

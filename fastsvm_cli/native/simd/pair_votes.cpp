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

// Position of row 0, class c, if R rows of (stride) numbers alternate by register.
template <int R> FASTSVM_INLINE std::int64_t mixed(std::int64_t c) { return c / width * width * R + c % width; }

// Adds to v the values of class i against those from j on, R rows. mine: (vectors, R), i's kernel values; values:
// (vectors, stride), R rows mixed. T: vectors, or 0 for any.
template <int R, int T>
FASTSVM_INLINE void add_values(const PairTables t, std::int64_t i, std::int64_t j, const float* mine,
                               const float* values, vf (&v)[R]) {
    const std::int64_t vectors = T ? T : t.vectors, first = i * vectors * t.stride + j;
    const float *own = t.own + first, *other = t.other + first, *theirs = values + j * R;
    _Pragma("GCC unroll 4") for (std::int64_t s = 0; s < vectors; ++s) {
        const vf a = vf::load(own + s * t.stride), b = vf::load(other + s * t.stride);
        _Pragma("GCC unroll 4") for (int r = 0; r < R; ++r) {
            v[r] += a * mine[s * R + r];
            v[r] += b * vf::load(theirs + s * t.stride * R + r * width);
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
            peak = where_less(zero, largest, larger(peak, value), peak);  // not for padding
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
    float numbers[width];
    for (int k = 0; k < width; ++k) numbers[k] = static_cast<float>(k);
    float mine[vote_vectors];
    for (std::int64_t s = 0; s < t.vectors; ++s) mine[s] = row.values[s * t.stride + i];
    vf least = vf::splat(infinite), of = vf::splat(0), classes = vf::load(numbers);
    for (std::int64_t j = 0; j < t.classes; j += width) {
        vf v[1] = {vf::load(t.rho + i * t.stride + j)};
        add_values<1, 0>(t, i, j, mine, row.values, v);
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

// Lists undecided pairs of class i and those from j on, and sets them to NaN: no vote.
__attribute__((noinline)) void set_aside(const PairTables& t, std::int64_t i, std::int64_t j, std::int64_t most,
                                         PairVotes& row, float* v) {
    for (std::int64_t k = 0; k < width && j + k < t.classes; ++k) {
        if (!(__builtin_fabsf(v[k]) <= row.radii[i] + row.radii[j + k])) continue;
        v[k] = none;
        if (row.undecided_pairs < most) {
            row.undecided[2 * row.undecided_pairs] = static_cast<std::int32_t>(i);
            row.undecided[2 * row.undecided_pairs + 1] = static_cast<std::int32_t>(j + k);
        }
        ++row.undecided_pairs;
    }
}

template <int R, int T>
void votes_of_rows(const PairTables& tables, std::int64_t most, PairVotes* rows, float* scratch) {
    const PairTables t = tables;  // stores cannot alias a copy
    const std::int64_t padded = t.vectors * t.stride;
    float *const values = scratch, *const radii = values + R * padded;
    std::int32_t* const low = rows[0].low;  // of all rows, mixed
    for (int r = 0; r < R; ++r) {
        for (std::int64_t c = 0; c < padded; c += width) vf::load(rows[r].values + c).store(values + c * R + r * width);
        for (std::int64_t c = 0; c < t.stride; c += width) vf::load(rows[r].radii + c).store(radii + c * R + r * width);
        rows[r].undecided_pairs = 0;
    }
    for (std::int64_t c = 0; c < R * t.stride; ++c) low[c] = 0;
    // In the register that contains i, hides the classes up to i.
    float hide[2 * width];
    for (int k = 0; k < width; ++k) hide[k] = none, hide[width + k] = 0;
    const vf zero = vf::splat(0);
    for (std::int64_t i = 0; i < t.classes; ++i) {
        Bits lost[R];
        vf own_radius[R];
        std::int64_t before[R];
        float mine[(T ? T : vote_vectors) * R];
        for (std::int64_t s = 0; s < (T ? T : t.vectors); ++s)
            for (int r = 0; r < R; ++r) mine[s * R + r] = values[s * t.stride * R + mixed<R>(i) + r * width];
        for (int r = 0; r < R; ++r) {
            lost[r] = Bits{};
            own_radius[r] = vf::splat(radii[mixed<R>(i) + r * width]);
            before[r] = rows[r].undecided_pairs;
        }
        std::int64_t j = (i + 1) / width * width;
        vf hidden = vf::load(hide + width - (i + 1 - j));
        for (; j < t.classes; j += width) {
            vf v[R];
            const vf rho = vf::load(t.rho + i * t.stride + j) + hidden;
            for (int r = 0; r < R; ++r) v[r] = rho;
            add_values<R, T>(t, i, j, mine, values, v);
            Bits undecided{};
            _Pragma("GCC unroll 4") for (int r = 0; r < R; ++r) undecided |=
                (Bits)(magnitude(v[r]).v <= (own_radius[r] + vf::load(radii + j * R + r * width)).v);  // false for NaN
            if (__builtin_expect(any(undecided), 0)) {
                _Pragma("GCC unroll 4") for (int r = 0; r < R; ++r) {
                    float each[width];
                    v[r].store(each);
                    set_aside(t, i, j, most, rows[r], each);
                    v[r] = vf::load(each);
                }
            }
            std::int32_t* const votes = low + j * R;
            _Pragma("GCC unroll 4") for (int r = 0; r < R; ++r) {
                const Bits loses = (Bits)(v[r].v < zero.v);  // -1 each
                lost[r] -= loses;
                const Bits now = load_bits(votes + r * width) - loses;
                __builtin_memcpy(votes + r * width, &now, sizeof now);
            }
            hidden = zero;
        }
        bool hopeless = true;
        for (int r = 0; r < R; ++r) {
            std::int64_t gone = rows[r].undecided_pairs - before[r];
            for (int k = 0; k < width; ++k) gone += lost[r][k];
            low[mixed<R>(i) + r * width] += static_cast<std::int32_t>(t.classes - 1 - i - gone);
            hopeless = hopeless && rows[r].undecided_pairs > most;
        }
        if (hopeless) return;
    }
    // Separates the rows; kernel values are no longer needed.
    std::int32_t* const apart = reinterpret_cast<std::int32_t*>(scratch);
    for (std::int64_t c = 0; c < t.classes; ++c)
        for (int r = 0; r < R; ++r) __builtin_memcpy(apart + r * t.stride + c, low + mixed<R>(c) + r * width, 4);
    for (int r = 0; r < R; ++r)
        __builtin_memcpy(low + r * t.stride, apart + r * t.stride, static_cast<std::size_t>(4 * t.stride));
}

template <int R> void votes_by_vectors(const PairTables& t, std::int64_t most, PairVotes* rows, float* scratch) {
    switch (t.vectors) {
        case 1: return votes_of_rows<R, 1>(t, most, rows, scratch);
        case 2: return votes_of_rows<R, 2>(t, most, rows, scratch);
        case 3: return votes_of_rows<R, 3>(t, most, rows, scratch);
        case 4: return votes_of_rows<R, 4>(t, most, rows, scratch);
        default: return votes_of_rows<R, 0>(t, most, rows, scratch);
    }
}

void all_pairs(const PairTables& t, std::int64_t most, int n, PairVotes* rows, float* scratch) {
    if (n == vote_rows) return votes_by_vectors<vote_rows>(t, most, rows, scratch);
    for (int r = 0; r < n; ++r) votes_by_vectors<1>(t, most, rows + r, scratch);
}

}  // namespace

extern const VoteLoops votes_table;
const VoteLoops votes_table = {measure, strongest, all_pairs};

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

// Compiled without contraction: squared norms are sums of rounded products.
#include "simd/loops.h"

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace fastsvm::FASTSVM_ISA {
namespace {

#if defined(__AVX2__)
constexpr int width = 32;
#else
constexpr int width = 16;
#endif
typedef unsigned char Bytes __attribute__((vector_size(width)));

ByteCounts count(const char* text, std::int64_t size, char separator) {
    ByteCounts all{0, 0};
    std::int64_t at = 0;
    while (size - at >= width) {
        Bytes lines{}, separators{};
        const std::int64_t left = (size - at) / width;
        for (int n = left < 255 ? static_cast<int>(left) : 255; n > 0; --n, at += width) {
            Bytes x;
            __builtin_memcpy(&x, text + at, sizeof x);
            lines -= static_cast<Bytes>(x == static_cast<unsigned char>('\n'));  // a true comparison is -1
            separators -= static_cast<Bytes>(x == static_cast<unsigned char>(separator));
        }
        for (int i = 0; i < width; ++i) {
            all.lines += lines[i];
            all.separators += separators[i];
        }
    }
    for (; at < size; ++at) {
        all.lines += text[at] == '\n';
        all.separators += text[at] == separator;
    }
    return all;
}

#if defined(__AVX2__)

// Per shape of digits: the shuffle to the end of sixteen bytes, after 0s, and the divisor of the whole number.
struct Shape {
    alignas(32) signed char from[16];
    double divisor;  // power of ten; those up to 1e22 are exact
};

// Index of a shape by minus sign, length, and position of the point (the length if none). One number: GCC would
// otherwise compute each part's address.
constexpr std::size_t shape_number(bool minus, std::size_t length, std::size_t point) {
    return (minus * 16 + length) * 16 + point;
}

struct Shapes {
    Shape of[2 * 16 * 16];
};

constexpr Shapes make_shapes() {
    Shapes all{};
    for (int minus = 0; minus < 2; ++minus)
        for (int length = 0; length < 16; ++length)
            for (int point = 0; point < 16; ++point) {
                Shape& shape =
                    all.of[shape_number(minus, static_cast<std::size_t>(length), static_cast<std::size_t>(point))];
                int digits = 0;
                for (int from = length - 1; from >= minus; --from)
                    if (from != point) shape.from[15 - digits++] = static_cast<signed char>(from);
                for (int to = 0; to < 16 - digits; ++to) shape.from[to] = -1;
                if (digits == 0) shape.from[15] = 0;  // not a digit: a minus or point alone
                shape.divisor = minus ? -1 : 1;
                for (int behind = point + 1; behind < length; ++behind) shape.divisor *= 10;
            }
    return all;
}

constexpr Shapes shapes = make_shapes();

// One bit per byte of a window.
using Bits = std::uint64_t;

// 64 if there are none.
inline std::int64_t lowest(Bits bits) { return static_cast<std::int64_t>(_tzcnt_u64(bits)); }

inline __m128i load(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

inline __m256i load_two(const void* low, const void* high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load(low)), load(high), 1);
}

// Bytes read from a window on: the window, and a register from its last byte.
constexpr std::int64_t bytes_read = 64 + 16;
static_assert(plain_words_at_once >= 64 / 2);  // a word has at least two

struct Window {
    Bits ends;  // bytes <= ' ', which end words
    Bits colons, points;

    explicit Window(const char* p) {
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
                      high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
        const auto bits = [](__m256i of_low, __m256i of_high) {
            return static_cast<std::uint32_t>(_mm256_movemask_epi8(of_low)) |
                   static_cast<Bits>(static_cast<std::uint32_t>(_mm256_movemask_epi8(of_high))) << 32;
        };
        const auto equal = [&](char c) {
            const __m256i expected = _mm256_set1_epi8(c);
            return bits(_mm256_cmpeq_epi8(low, expected), _mm256_cmpeq_epi8(high, expected));
        };
        const __m256i blank = _mm256_set1_epi8(' ');
        ends = bits(_mm256_cmpeq_epi8(_mm256_min_epu8(low, blank), low),
                    _mm256_cmpeq_epi8(_mm256_min_epu8(high, blank), high));
        colons = equal(':');
        points = equal('.');
    }
};

// Whole numbers from digits at the ends of register halves; each half (first eight, last eight) twice.
struct ToWhole {
    const __m256i tens = _mm256_set1_epi16(10 | 1 << 8), hundreds = _mm256_set1_epi32(100 | 1 << 16),
                  ten_thousands = _mm256_set1_epi32(10000 | 1 << 16), nine = _mm256_set1_epi8(9);

    bool are_digits(__m256i digits) const {
        const __m256i above_nine = _mm256_subs_epu8(digits, nine);
        return _mm256_testz_si256(above_nine, above_nine);
    }
    __m256i operator()(__m256i digits) const {
        const __m256i by_four = _mm256_madd_epi16(_mm256_maddubs_epi16(digits, tens), hundreds);
        return _mm256_madd_epi16(_mm256_packus_epi32(by_four, by_four), ten_thousands);
    }
};

inline void put(PlainWords& words, std::int64_t index, double value) {
    words.last = index;
    *words.indices++ = static_cast<std::int32_t>(index);
    *words.values++ = value;
    words.squared_norm += value * value;
}

// Reads words of a window at p whose values are one digit; these are the commonest, and need no shuffle. Stops at a
// word that is not plain, has more than four index digits or not a larger index. Returns where it begins; window: the
// rest.
inline std::int64_t read_one_digits(const char* p, Window& window, PlainWords& words) {
    std::int64_t word = 0;
    while (window.ends) {
        const std::int64_t stop = lowest(window.ends), of_index = stop - 2 - word;
        if (static_cast<Bits>(of_index - 1) > 3) break;
        const unsigned value = static_cast<unsigned char>(p[stop - 1]) - unsigned{'0'};
        std::uint32_t index;
        __builtin_memcpy(&index, p + word, sizeof index);
        index = (index ^ 0x30303030u) << (32 - 8 * of_index);
        const bool digits = value <= 9 && !(((index + 0x76767676u) | index) & 0x80808080u);
        if (!digits || p[stop - 2] != ':' || p[stop] != ' ') break;
        index = ((index * (1 + (10u << 8))) >> 8) & 0x00FF00FFu;
        index = (index * (1 + (100u << 16))) >> 16;
        if (index <= words.last) break;
        put(words, index, value);
        word = stop + 1;
        window.ends &= window.ends - 1;
    }
    window.colons &= word < 64 ? ~Bits{0} << word : 0;
    return word;
}

// Reads a word of a window at p, up to `stop`. Returns whether it is plain, with an index above the last.
inline bool read_word(const char* p, const Window& window, std::int64_t word, std::int64_t stop,
                      const ToWhole& to_whole, PlainWords& words) {
    const std::int64_t of_index = lowest(window.colons) - word;
    if (static_cast<Bits>(of_index - 1) > 7) return false;
    const std::int64_t number = word + of_index + 1, length = stop - number;
    if (static_cast<Bits>(length - 1) > 14) return false;
    const std::size_t point = static_cast<std::size_t>(lowest(window.points >> number | Bits{1} << length));
    const Shape& shape = shapes.of[shape_number(p[number] == '-', static_cast<std::size_t>(length), point)];
    const std::size_t whole_index = static_cast<std::size_t>(of_index);
    // Index and number side by side, in halves of a register.
    const __m256i both = _mm256_sub_epi8(load_two(p + word, p + number), _mm256_set1_epi8('0'));
    const __m256i digits =
        _mm256_shuffle_epi8(both, load_two(shapes.of[shape_number(false, whole_index, whole_index)].from, shape.from));
    if (!to_whole.are_digits(digits)) return false;
    const __m256i by_eight = to_whole(digits);
    const std::int64_t index =
        static_cast<std::int64_t>(static_cast<Bits>(_mm_cvtsi128_si64(_mm256_castsi256_si128(by_eight))) >> 32);
    if (index <= words.last) return false;
    const Bits halves = static_cast<Bits>(_mm_cvtsi128_si64(_mm256_extracti128_si256(by_eight, 1)));
    const Bits whole = (halves & 0xffffffffu) * 100000000u + (halves >> 32);
    // Below 2^53 for fifteen digits, over an exact power of ten: one rounding.
    put(words, index, static_cast<double>(static_cast<std::int64_t>(whole)) / shape.divisor);
    return true;
}

const char* read_plain(const char* p, const char* end, PlainWords& words) {
    while (p < end && *p == ' ') ++p;
    PlainWords now = words;  // in registers
    const ToWhole to_whole;
    const char* const limit = end - bytes_read;
    bool more = true;
    while (more && p <= limit && words.capacity - (now.indices - words.indices) >= plain_words_at_once) {
        Window window(p);
        if (!window.ends) break;
        std::int64_t word = 0;
        const Bits whole_words = ~Bits{0} >> _lzcnt_u64(window.ends);
        if (!((window.colons << 2) & whole_words & ~window.ends)) word = read_one_digits(p, window, now);
        while (more && window.ends) {
            const std::int64_t stop = lowest(window.ends);
            if (p[stop] != ' ' && p[stop] != '\n' && p[stop] != '\t') break;
            if (!read_word(p, window, word, stop, to_whole, now)) break;
            more = p[stop] != '\n';
            word = more ? stop + 1 : stop;
            window.ends &= window.ends - 1;
            window.colons &= window.colons - 1;
        }
        p += word;
        more &= !window.ends && word;
    }
    words.count = now.indices - words.indices;
    words.last = now.last;
    words.squared_norm = now.squared_norm;
    return p;
}

#else

const char* read_plain(const char* p, const char*, PlainWords& words) {
    words.count = 0;
    return p;
}

#endif

}  // namespace

extern const TextLoops text;
const TextLoops text = {count, read_plain};

}  // namespace fastsvm::FASTSVM_ISA

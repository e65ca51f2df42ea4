// Compiled once per instruction set, as loops.cpp and under the same rule: no inline function of the standard library;
// without contraction, for squared norms are sums of rounded products.
#include "simd/text_loops.h"

#include "simd/loops.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace fastsvm {
namespace FASTSVM_ISA {
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
            lines -= static_cast<Bytes>(x == static_cast<unsigned char>('\n'));  // a comparison is -1 where it holds
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

// What moves the digits of a number to the end of sixteen bytes, by its length and where its point stands (at its
// length: there is none), and puts 0 before them.
struct Shuffles {
    alignas(16) signed char from[16][16][16];
};

constexpr Shuffles make_shuffles() {
    Shuffles all{};
    for (int length = 0; length < 16; ++length)
        for (int point = 0; point < 16; ++point)
            for (int to = 0; to < 16; ++to) {
                int from = length - 16 + to;
                if (point < length && from <= point) --from;
                all.from[length][point][to] = static_cast<signed char>(from < 0 ? -1 : from);
            }
    all.from[1][0][15] = 0;  // a point alone is no number: its byte is no digit
    return all;
}

constexpr Shuffles shuffles = make_shuffles();

// What a whole number is divided by, for [a sign][1 + the digits behind its point; 0: no point]: a sign costs nothing
// then.
struct Divisors {
    double of[2][16];
};

constexpr Divisors make_divisors() {
    Divisors all{};
    double power = 1;  // of ten: below 1e22 each is a double
    for (int at = 0; at < 16; ++at) {
        all.of[0][at] = power;
        all.of[1][at] = -power;
        if (at) power *= 10;
    }
    return all;
}

constexpr Divisors divisors = make_divisors();

// Bits for the 64 bytes of a window.
using Bits = std::uint64_t;

// Of no bits: 64.
inline std::int64_t lowest(Bits bits) { return static_cast<std::int64_t>(_tzcnt_u64(bits)); }

inline __m128i load(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

inline __m256i load_two(const void* low, const void* high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load(low)), load(high), 1);
}

// What is read from a window's first byte on: the window, and the register that begins with its last byte.
constexpr std::int64_t bytes_read = 64 + 16;
static_assert(plain_words_at_once >= 64 / 2);  // a word takes two bytes at least

struct Window {
    Bits ends;  // the bytes up to ' ', where words end
    Bits colons, points;

    explicit Window(const char* p) {
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
                      high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
        const auto bits = [](__m256i of_low, __m256i of_high) {
            return static_cast<std::uint32_t>(_mm256_movemask_epi8(of_low)) |
                   static_cast<Bits>(static_cast<std::uint32_t>(_mm256_movemask_epi8(of_high))) << 32;
        };
        const auto equal = [&](char c) {
            const __m256i wanted = _mm256_set1_epi8(c);
            return bits(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
        };
        const __m256i blank = _mm256_set1_epi8(' ');
        ends = bits(_mm256_cmpeq_epi8(_mm256_min_epu8(low, blank), low),
                    _mm256_cmpeq_epi8(_mm256_min_epu8(high, blank), high));
        colons = equal(':');
        points = equal('.');
    }
};

// The words that were read, in registers.
struct Written {
    std::int32_t* index_out;
    double* value_out;
    std::int64_t last;
    double squared_norm;

    void put(std::int64_t index, double value) {
        last = index;
        *index_out++ = static_cast<std::int32_t>(index);
        *value_out++ = value;
        squared_norm += value * value;
    }
};

// Of a window at p whose values have one digit, and no sign, in front of its last end: its words up to one that has an
// index of more than four digits, or is not plain at all. Returns where that begins; window: what is left of it.
// These are the commonest words of all, and need no shuffle.
inline std::int64_t read_one_digits(const char* p, Window& window, Written& written) {
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
        if (index <= written.last) break;
        written.put(index, value);
        word = stop + 1;
        window.ends &= window.ends - 1;
    }
    window.colons &= word < 64 ? ~Bits{0} << word : 0;
    return word;
}

const char* read_plain(const char* p, const char* end, PlainWords& words) {
    while (p < end && *p == ' ') ++p;
    Written written{words.indices, words.values, words.last, words.squared_norm};
    const __m256i tens = _mm256_set1_epi16(10 | 1 << 8), hundreds = _mm256_set1_epi32(100 | 1 << 16),
                  ten_thousands = _mm256_set1_epi32(10000 | 1 << 16);
    const char* const limit = end - bytes_read;
    bool more = true;
    while (more && p <= limit && words.room - (written.index_out - words.indices) >= plain_words_at_once) {
        Window window(p);
        if (!window.ends) break;
        std::int64_t word = 0;
        const Bits whole_words = ~Bits{0} >> _lzcnt_u64(window.ends);
        if (!((window.colons << 2) & whole_words & ~window.ends)) word = read_one_digits(p, window, written);
        while (more && window.ends) {
            const std::int64_t stop = lowest(window.ends), colon = lowest(window.colons), of_index = colon - word;
            if (static_cast<Bits>(of_index - 1) > 7) break;
            const std::int64_t negative = p[colon + 1] == '-';
            const std::int64_t number = colon + 1 + negative, length = stop - number;
            if (static_cast<Bits>(length - 1) > 14) break;
            const std::int64_t point = lowest(window.points >> number | Bits{1} << length);
            // The index and the number side by side, in halves of a register.
            const __m256i both = _mm256_sub_epi8(load_two(p + word, p + number), _mm256_set1_epi8('0'));
            const __m256i digits =
                _mm256_shuffle_epi8(both, load_two(shuffles.from[of_index][of_index], shuffles.from[length][point]));
            const __m256i above_nine = _mm256_subs_epu8(digits, _mm256_set1_epi8(9));
            if (!_mm256_testz_si256(above_nine, above_nine)) break;
            const __m256i by_four = _mm256_madd_epi16(_mm256_maddubs_epi16(digits, tens), hundreds);
            const __m256i by_eight = _mm256_madd_epi16(_mm256_packus_epi32(by_four, by_four), ten_thousands);
            const std::int64_t index =
                static_cast<std::int64_t>(static_cast<Bits>(_mm_cvtsi128_si64(_mm256_castsi256_si128(by_eight))) >> 32);
            if (index <= written.last) break;
            const Bits halves = static_cast<Bits>(_mm_cvtsi128_si64(_mm256_extracti128_si256(by_eight, 1)));
            const Bits whole = (halves & 0xffffffffu) * 100000000u + (halves >> 32);
            // Below 2^53 for fifteen digits, and a power of ten that is a double: one rounding.
            const double value =
                static_cast<double>(static_cast<std::int64_t>(whole)) / divisors.of[negative][length - point];
            if (p[stop] != ' ') {
                if (p[stop] != '\n' && p[stop] != '\t') break;
                more = p[stop] != '\n';
            }
            written.put(index, value);
            word = more ? stop + 1 : stop;
            window.ends &= window.ends - 1;
            window.colons &= window.colons - 1;
        }
        p += word;
        more &= !window.ends && word;
    }
    words.count = written.index_out - words.indices;
    words.last = written.last;
    words.squared_norm = written.squared_norm;
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

}  // namespace FASTSVM_ISA
}  // namespace fastsvm

// Words of text, and decimal numbers, without locale or exceptions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fastsvm {

// ---- blanks, words and line ends in text that ends in '\n'

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Whether p is at a line end. A CR is a blank only before LF; elsewhere it is an error in a word, like VT and FF.
// LIBSVM takes these for blanks in some places, and drops the text after them in others.
inline bool at_line_end(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

inline bool ends_word(const char* p) { return is_blank(*p) || at_line_end(p); }

// Skips blanks, and a CR before LF.
inline const char* skip_blanks(const char* p) {
    while (is_blank(*p)) ++p;
    return *p == '\r' && p[1] == '\n' ? p + 1 : p;
}

inline constexpr char blanks_and_line_ends[] = " \t\n\v\f\r";

// Splits at runs of separators.
std::vector<std::string_view> split_words(std::string_view text, const char* separators = blanks_and_line_ends);

// The name of a character that is no blank but separates words elsewhere; null for others.
const char* control_name(char c);

// ---- single numbers, without allocation

// Exact powers of ten.
inline constexpr double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum class NumberStatus { ok, not_a_number, not_finite, overflow, underflow };

// Reads the number at p as strtod in the C locale, hexadecimal included, without leading blanks. A byte that cannot
// belong to a number must follow somewhere ('\n'). Returns the first byte after the number, or p if the status is not
// ok. The result is the nearest double.
const char* read_double_slow(const char* p, double* out, NumberStatus* status);

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// As read_double_slow, with a fast path for short decimal numbers.
inline const char* read_double(const char* p, double* out, NumberStatus* status) {
    const char* const start = p;
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    std::uint64_t mantissa = 0;
    const char* const whole = p;
    while (is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
    long digits = p - whole;
    long fraction = 0;
    if (*p == '.') {
        const char* const point = ++p;
        while (is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
        fraction = p - point;
        digits += fraction;
    }
    // Clinger's fast path, which is exact: the mantissa fits 53 bits, the power of ten is a double, and one rounding
    // remains. 19 digits fit 64 bits.
    if (digits == 0 || digits > 19 || fraction > 22 || mantissa > (std::uint64_t{1} << 53) || (*p | 32) == 'e' ||
        (*p | 32) == 'x')
        return read_double_slow(start, out, status);
    double value = static_cast<double>(mantissa);
    if (fraction) value /= power_of_ten[fraction];
    *out = negative ? -value : value;
    *status = NumberStatus::ok;
    return p;
}

// Writers return the end of the text, which has fewer than number_text_max bytes.
constexpr int number_text_max = 32;
char* write_shortest(char* p, double value);       // shortest text that reads back equal
char* write_shortest(char* p, float value);        // same in single precision
char* write_g(char* p, double value, int digits);  // printf's %.<digits>g

// Likewise, as strings.
std::string repr_number(double value);                   // shortest, as Python's repr: 1.0, 1e-05
std::string short_number(double value, int digits = 6);  // %.<digits>g

// ---- numbers in bodies of compiled models

// The result of read_numbers().
struct NumberLines {
    std::vector<double> numbers;
    std::size_t at = 0;  // offset after their line end, or of the error
    std::string error;   // found instead; or empty
};

// Reads `count` numbers from text[offset:], separated by blanks and line ends, then a line end. single: they must be in
// single precision's range.
NumberLines read_numbers(std::string_view text, std::int64_t offset, std::int64_t count, bool single);

// Formats one line of the shortest texts that read back equal.
std::string format_numbers(const double* numbers, std::size_t count);
std::string format_numbers(const float* numbers, std::size_t count);

// Rounds numbers to the stored precision, single or double. Returns whether all are finite.
bool round_to_stored(std::vector<double>& numbers, bool single);

// Messages of errors in text: what was found, and what was expected.

class Scaling;

// p is in whole lines up to `end`. A word ends before a blank, a line end, or `delimiter`. Cold functions are not
// inlined into the calling loops.

// Quotes [p, end), printable and shortened.
std::string quote(const char* p, const char* end);
// Quotes the word at p likewise.
std::string quote_word(const char* p, const char* end, char delimiter = ' ');
// Message for a word at p that is not `expected`.
__attribute__((cold)) std::string word_error(const char* p, const char* end, const char* expected,
                                             char delimiter = ' ');
// Message for a word at p that is not a number. status: why not (ok: other text follows the number).
__attribute__((cold)) std::string number_error(NumberStatus status, const char* p, const char* end,
                                               const char* expected, char delimiter = ' ');
// Messages for numbers in arrays. last: the previous index in the row, or -1.
std::string not_finite_error(double value, const char* what = "a value");
std::string index_error(std::int32_t index, std::int64_t last = -1);
// Message of an error in the comment [p, end), or "". plain: refuses a ':' (Format::plain_comments).
__attribute__((cold)) std::string comment_error(const char* p, const char* end, bool plain);
// Message for an entry that cannot be scaled. word: its text.
__attribute__((cold)) std::string scaling_error(const Scaling& scaling, std::int32_t index, const std::string& word);

}  // namespace fastsvm

// Decimal text and numbers, without locale, allocation or exceptions.
#pragma once
#include <cstdint>

namespace fastsvm {

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
char* write_repr(char* p, double value);           // the same, as Python's repr: 1.0, 1e-05
char* write_g(char* p, double value, int digits);  // printf's %.<digits>g

}  // namespace fastsvm

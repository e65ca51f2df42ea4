#include "text/numbers.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace fastsvm {

namespace {

bool continues_a_number(char c) {
    return is_digit(c) || c == '.' || c == '+' || c == '-' || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

// Where the first digit that is not 0 stands, in powers of the base (of 2 for hexadecimal); its sign tells a huge
// number from a tiny one.
long leading_exponent(const char* p, const char* end, bool hexadecimal) {
    long position = 0, leading = 0;
    bool fraction = false, found = false;
    for (; p < end && (*p | 32) != (hexadecimal ? 'p' : 'e'); ++p) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        if (!found && *p != '0') {
            found = true;
            leading = fraction ? -position - 1 : 0;
        } else if (found && !fraction) {
            ++leading;
        }
        position += fraction;
    }
    if (hexadecimal) leading *= 4;
    long exponent = 0;
    if (p < end) {
        const bool negative = *++p == '-';
        if (*p == '-' || *p == '+') ++p;
        while (p < end && is_digit(*p) && exponent < 100000000) exponent = exponent * 10 + (*p++ - '0');
        if (negative) exponent = -exponent;
    }
    return leading + exponent;
}

template <class Float> char* shortest(char* p, Float value) {
    if (std::isnan(value)) return p + std::strlen(std::strcpy(p, std::signbit(value) ? "-nan" : "nan"));
    if (value == 0) value = 0;  // no "-0": it reads back equal and is shorter
    return std::to_chars(p, p + number_text_max, value).ptr;
}

}  // namespace

const char* read_double_slow(const char* p, double* out, NumberStatus* status) {
    const char* const start = p;
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    const char* end = p;
    while (continues_a_number(*end)) ++end;
    const bool hexadecimal = p[0] == '0' && (p[1] | 32) == 'x';
    const char* const digits = hexadecimal ? p + 2 : p;
    // A second sign, which from_chars would take.
    if (*digits == '-' || *digits == '+') {
        *status = NumberStatus::not_a_number;
        return start;
    }
    double value = 0;
    const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
    const std::from_chars_result result = std::from_chars(digits, end, value, format);
    if (result.ec == std::errc::invalid_argument) {
        *status = NumberStatus::not_a_number;
        return start;
    }
    if (result.ec == std::errc::result_out_of_range) {
        // from_chars does not say which way.
        const bool small = leading_exponent(digits, result.ptr, hexadecimal) < 0;
        *status = small ? NumberStatus::underflow : NumberStatus::overflow;
        return start;
    }
    if (!std::isfinite(value)) {
        *status = NumberStatus::not_finite;
        return start;
    }
    *out = negative ? -value : value;
    *status = NumberStatus::ok;
    return result.ptr;
}

char* write_shortest(char* p, double value) { return shortest(p, value); }
char* write_shortest(char* p, float value) { return shortest(p, value); }

char* write_g(char* p, double value, int digits) {
    if (std::isnan(value)) return p + std::strlen(std::strcpy(p, std::signbit(value) ? "-nan" : "nan"));
    return std::to_chars(p, p + number_text_max, value, std::chars_format::general, digits).ptr;
}

}  // namespace fastsvm

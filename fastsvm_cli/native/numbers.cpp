#include "numbers.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace fastsvm {

namespace {

bool continues_a_number(char c) {
    return is_digit(c) || c == '.' || c == '+' || c == '-' || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

template <class Float>
char* shortest(char* p, Float value) {
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
    if (*p == '-' || *p == '+') {  // from_chars would take the second sign
        *status = NumberStatus::not_a_number;
        return start;
    }
    double value = 0;
    const char* const first = hexadecimal ? p + 2 : p;
    const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
    const std::from_chars_result result = std::from_chars(first, end, value, format);
    if (result.ec == std::errc::invalid_argument) {
        *status = NumberStatus::not_a_number;
        return start;
    }
    if (result.ec == std::errc::result_out_of_range) {
        // from_chars does not say which way; a mantissa of zero cannot be here, so the exponent's size decides.
        bool small = false;
        for (const char* q = first; q < result.ptr; ++q)
            if ((*q | 32) == (hexadecimal ? 'p' : 'e')) small = q[1] == '-';
        if (!small) small = first < result.ptr && (*first == '.' || *first == '0');
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

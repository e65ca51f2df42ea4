#include "text/numbers.h"

#include <locale.h>
#include <stdlib.h>
#include <cstring>

#include "text/scaling.h"

#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace fastsvm {

namespace {

bool continues_a_number(char c) {
    return is_digit(c) || c == '.' || c == '+' || c == '-' || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

constexpr auto whole_power_of_ten = [] {
    std::array<std::uint64_t, 20> out{1};
    for (std::size_t power = 1; power < out.size(); ++power) out[power] = 10 * out[power - 1];
    return out;
}();
constexpr int largest_power = 19;

// Writes %.<digits>g, 1 to 17 digits; null for large, tiny and halfway numbers. The value is m / 2^shift; m 10^power /
// 2^shift is a whole number and a remainder, exact in 128 bits.
char* write_digits(char* p, double value, int digits) {
    __extension__ typedef unsigned __int128 Wide;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023, shift = 52 - exponent;
    if (shift < 1 || shift > 120) return nullptr;
    const std::uint64_t m = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
    int place = (exponent * 78913) >> 18;  // of the first digit: exponent log10(2), rounded down, or one more
    Wide scaled;
    std::uint64_t number;
    for (;; ++place) {
        const int power = digits - 1 - place;
        if (power < 0 || power > largest_power) return nullptr;
        scaled = static_cast<Wide>(m) * whole_power_of_ten[power];  // below 2^53 2^64
        const Wide whole = scaled >> shift;
        if (whole >= whole_power_of_ten[digits]) continue;
        number = static_cast<std::uint64_t>(whole);
        break;
    }
    const Wide rest = scaled - (static_cast<Wide>(number) << shift), half = static_cast<Wide>(1) << (shift - 1);
    if (rest == half) return nullptr;  // printf rounds to even
    number += rest > half;
    if (number == whole_power_of_ten[digits]) {
        number /= 10;
        ++place;
    }
    if (place >= digits) return nullptr;
    char text[20];
    std::to_chars(text, text + sizeof text, number);
    int significant = digits;
    while (text[significant - 1] == '0') --significant;
    if (bits >> 63) *p++ = '-';
    const auto put = [&p, &text](int from, int to) {
        for (int i = from; i < to; ++i) *p++ = text[i];
    };
    if (place >= 0) {
        put(0, place + 1);
        if (significant > place + 1) {
            *p++ = '.';
            put(place + 1, significant);
        }
        return p;
    }
    if (place >= -4) {
        *p++ = '0';
        *p++ = '.';
        for (int i = -1; i > place; --i) *p++ = '0';
        put(0, significant);
        return p;
    }
    put(0, 1);
    if (significant > 1) {
        *p++ = '.';
        put(1, significant);
    }
    *p++ = 'e';
    *p++ = '-';
    *p++ = static_cast<char>('0' - place / 10);
    *p++ = static_cast<char>('0' - place % 10);
    return p;
}

// std::from_chars, or strtod where the library reads only whole numbers (libc++ before 20). hexadecimal: digits follow
// 0x. A value out of range is below 1, or infinite.
std::from_chars_result nearest_double(const char* digits, const char* end, bool hexadecimal, double& value) {
#if defined(__cpp_lib_to_chars) && !defined(FASTSVM_PORTABLE)
    const auto result =
        std::from_chars(digits, end, value, hexadecimal ? std::chars_format::hex : std::chars_format::general);
    if (result.ec != std::errc::result_out_of_range) return result;  // from_chars does not say which
#endif
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    char* stop = nullptr;
    errno = 0;
    value = strtod_l(hexadecimal ? digits - 2 : digits, &stop, c_locale);
#if defined(__cpp_lib_to_chars) && !defined(FASTSVM_PORTABLE)
    return result;
#else
    if (stop <= digits) return {digits, std::errc::invalid_argument};
    const bool beyond = errno == ERANGE && (value == 0 || std::isinf(value));
    return {std::min<const char*>(stop, end), beyond ? std::errc::result_out_of_range : std::errc()};
#endif
}

template <class Float> char* shortest(char* p, Float value) {
    if (std::isnan(value)) return p + std::strlen(std::strcpy(p, std::signbit(value) ? "-nan" : "nan"));
    if (value == 0) value = 0;  // no "-0": "0" reads back equal
    return std::to_chars(p, p + number_text_max, value).ptr;
}

template <class Write, class... Options> std::string text_of(Write write, double value, Options... options) {
    char buffer[number_text_max];
    return std::string(buffer, write(buffer, value, options...));
}

std::string found_at(const char* p, const char* end) {
    return (p >= end ? "the end of the file" : ends_word(p) ? "the end of the line" : quote_word(p, end)) + " found";
}

template <class Number> std::string formatted(const Number* numbers, std::size_t count) {
    std::string text;
    text.reserve(count * 14);
    char buffer[number_text_max];
    for (std::size_t i = 0; i < count; ++i) {
        const char* const end = write_shortest(buffer, numbers[i]);
        if (i) text += ' ';
        text.append(buffer, static_cast<std::size_t>(end - buffer));
    }
    text += '\n';
    return text;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text, const char* separators) {
    std::vector<std::string_view> out;
    for (std::size_t end = 0;;) {
        const std::size_t begin = text.find_first_not_of(separators, end);
        if (begin == std::string_view::npos) return out;
        end = std::min(text.find_first_of(separators, begin), text.size());
        out.push_back(text.substr(begin, end - begin));
    }
}

const char* control_name(char c) {
    switch (c) {
        case '\r': return "a carriage return";
        case '\v': return "a vertical tab";
        case '\f': return "a form feed";
        default: return nullptr;
    }
}

const char* read_double_slow(const char* p, double* out, NumberStatus* status) {
    const char* const start = p;
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    const char* end = p;
    while (continues_a_number(*end)) ++end;
    const bool hexadecimal = p[0] == '0' && (p[1] | 32) == 'x';
    const char* const digits = hexadecimal ? p + 2 : p;
    const auto fail = [&](NumberStatus why) {
        *status = why;
        return start;
    };
    // from_chars would accept a second sign.
    if (*digits == '-' || *digits == '+') return fail(NumberStatus::not_a_number);
    double value = 0;
    const std::from_chars_result result = nearest_double(digits, end, hexadecimal, value);
    if (result.ec == std::errc::invalid_argument) return fail(NumberStatus::not_a_number);
    if (result.ec == std::errc::result_out_of_range)
        return fail(std::fabs(value) < 1 ? NumberStatus::underflow : NumberStatus::overflow);
    if (!std::isfinite(value)) return fail(NumberStatus::not_finite);
    *out = negative ? -value : value;
    *status = NumberStatus::ok;
    return result.ptr;
}

char* write_shortest(char* p, double value) { return shortest(p, value); }
char* write_shortest(char* p, float value) { return shortest(p, value); }

static char* write_repr(char* p, double value) {
    if (!std::isfinite(value)) return shortest(p, value);
    const double size = std::fabs(value);
    if (size != 0 && (size < 1e-4 || size >= 1e16))
        return std::to_chars(p, p + number_text_max, value, std::chars_format::scientific).ptr;
    char* const end = std::to_chars(p, p + number_text_max, value, std::chars_format::fixed).ptr;
    return std::find(p, end, '.') != end ? end : std::copy_n(".0", 2, end);
}

char* write_g(char* p, double value, int digits) {
    if (digits >= 1 && digits <= 17)
        if (char* const end = write_digits(p, value, digits)) return end;
    if (std::isnan(value)) return p + std::strlen(std::strcpy(p, std::signbit(value) ? "-nan" : "nan"));
    return std::to_chars(p, p + number_text_max, value, std::chars_format::general, digits).ptr;
}

std::string repr_number(double value) { return text_of(write_repr, value); }
std::string short_number(double value, int digits) { return text_of(write_g, value, digits); }

NumberLines read_numbers(std::string_view text, std::int64_t offset, std::int64_t count, bool single) {
    const std::int64_t length = static_cast<std::int64_t>(text.size());
    // A number takes two bytes: allocate no more than the text can hold.
    if (offset < 0 || offset > length || length == 0 || text.back() != '\n' || count < 0 ||
        count > (length - offset + 1) / 2)
        return {{}, text.size(), "the end of the file found"};
    NumberLines out;
    out.numbers.resize(static_cast<std::size_t>(count));
    const char* p = text.data() + offset;
    const char* const end = text.data() + length;
    const auto skip = [&](bool lines) {
        while (p < end) {
            p = skip_blanks(p);
            if (!lines || *p != '\n') break;
            ++p;
        }
    };
    const auto error = [&] { return NumberLines{{}, static_cast<std::size_t>(p - text.data()), found_at(p, end)}; };
    for (double& number : out.numbers) {
        skip(true);
        NumberStatus status = NumberStatus::not_a_number;
        const char* const next = p < end ? read_double(p, &number, &status) : p;
        const bool too_large = single && std::fabs(number) > std::numeric_limits<float>::max();
        if (status != NumberStatus::ok || too_large || !ends_word(next)) return error();
        p = next;
    }
    skip(false);
    if (p >= end || *p != '\n') return error();
    out.at = static_cast<std::size_t>(p + 1 - text.data());
    return out;
}

std::string format_numbers(const double* numbers, std::size_t count) { return formatted(numbers, count); }
std::string format_numbers(const float* numbers, std::size_t count) { return formatted(numbers, count); }

bool round_to_stored(std::vector<double>& numbers, bool single) {
    bool finite = true;
    for (double& x : numbers) {
        if (single) x = static_cast<double>(static_cast<float>(x));
        finite = finite && std::isfinite(x);
    }
    return finite;
}

std::string quote(const char* p, const char* end) {
    constexpr std::ptrdiff_t most = 40;
    std::string out = "'";
    for (const char* q = p; q < end && q - p < most; ++q)
        out += (static_cast<unsigned char>(*q) < 32 || static_cast<unsigned char>(*q) > 126) ? '?' : *q;
    return out + (end - p > most ? "...'" : "'");
}

std::string quote_word(const char* p, const char* end, char delimiter) {
    const char* stop = p;
    while (stop < end && !ends_word(stop) && *stop != delimiter) ++stop;
    return quote(p, stop);
}

std::string word_error(const char* p, const char* end, const char* expected, char delimiter) {
    for (const char* q = p; q < end && !ends_word(q) && *q != delimiter; ++q)
        if (const char* const name = control_name(*q))
            return std::string(name) + " found inside a row, expected blanks or tabs between words";
    return quote_word(p, end, delimiter) + " found, expected " + expected;
}

std::string number_error(NumberStatus status, const char* p, const char* end, const char* expected, char delimiter) {
    switch (status) {
        case NumberStatus::not_finite: return quote_word(p, end, delimiter) + " found, expected a finite number";
        case NumberStatus::overflow: return quote_word(p, end, delimiter) + " found, too large for a double";
        case NumberStatus::underflow: return quote_word(p, end, delimiter) + " found, too small for a double";
        default: return word_error(p, end, expected, delimiter);
    }
}

std::string not_finite_error(double value, const char* what) {
    return std::string(what) + " " + text_of(shortest<double>, value) + " found, expected a finite number";
}

std::string index_error(std::int32_t index, std::int64_t last) {
    if (index < 0) return "index " + std::to_string(index) + " found, expected an index of 0 or more";
    return "index " + std::to_string(index) + " found after index " + std::to_string(last) +
           ", expected increasing indices";
}

std::string comment_error(const char* p, const char* end, bool plain) {
    const auto holds = [&](char c) { return std::memchr(p, c, static_cast<std::size_t>(end - p)) != nullptr; };
    if (holds('\0')) return "a NUL byte found, expected text";
    return plain && holds(':') ? "a comment with a ':' found, which LIBSVM takes for index:value" : "";
}

std::string scaling_error(const Scaling& scaling, std::int32_t index, const std::string& word) {
    if (scaling.find(index)) return word + " found, too large for a double once it is scaled";
    if (scaling.kind() == Scaling::Kind::standard)
        return "feature " + std::to_string(index) + " found, expected one of the " + std::to_string(scaling.size()) +
               " that the scale file holds";
    return "index 0 found, which the range file does not hold, expected indices from 1";
}

}  // namespace fastsvm

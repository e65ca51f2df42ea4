#include "text/error_messages.h"

#include <cstring>

#include "text/numbers.h"
#include "text/scaling.h"

namespace fastsvm {

namespace {

const char* control_name(char c) {
    switch (c) {
        case '\r': return "a carriage return";
        case '\v': return "a vertical tab";
        case '\f': return "a form feed";
        default: return nullptr;
    }
}

}  // namespace

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

#include "text/number_lines.h"

#include <cmath>
#include <limits>

#include "text/blanks.h"
#include "text/error_messages.h"
#include "text/numbers.h"

namespace fastsvm {

namespace {

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

NumberLines read_numbers(const char* text, std::size_t size, std::int64_t offset, std::int64_t count, bool single) {
    const std::int64_t length = static_cast<std::int64_t>(size);
    // A number takes two bytes: allocate no more than the text can hold.
    if (offset < 0 || offset > length || length == 0 || text[length - 1] != '\n' || count < 0 ||
        count > (length - offset + 1) / 2)
        return {{}, size, "the end of the file found"};
    NumberLines out;
    out.numbers.resize(static_cast<std::size_t>(count));
    const char* p = text + offset;
    const char* const end = text + length;
    const auto skip = [&](bool lines) {
        while (p < end) {
            p = skip_blanks(p);
            if (!lines || *p != '\n') break;
            ++p;
        }
    };
    const auto error = [&] { return NumberLines{{}, static_cast<std::size_t>(p - text), found_at(p, end)}; };
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
    out.at = static_cast<std::size_t>(p + 1 - text);
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

}  // namespace fastsvm

// Words of model files, and text for messages.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fastsvm {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Splits at runs of blanks and line ends.
inline std::vector<std::string_view> split_words(std::string_view text) {
    std::vector<std::string_view> out;
    for (std::size_t at = 0; at < text.size();) {
        while (at < text.size() && is_space(text[at])) ++at;
        const std::size_t first = at;
        while (at < text.size() && !is_space(text[at])) ++at;
        if (at > first) out.push_back(text.substr(first, at - first));
    }
    return out;
}

// U+FFFD for each byte that is not ASCII, ? for unprintable ones.
inline std::string ascii(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (static_cast<unsigned char>(c) > 127)
            out += "\xef\xbf\xbd";
        else
            out += c < ' ' || c == 127 ? '?' : c;
    }
    return out;
}

}  // namespace fastsvm

// Blanks, words and line ends in text that ends in '\n'.
#pragma once

namespace fastsvm {

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

}  // namespace fastsvm

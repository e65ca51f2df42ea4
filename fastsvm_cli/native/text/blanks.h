// Ends of words in a text.
#pragma once

namespace fastsvm {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// p: in text that ends in '\n'. A CR is a blank only before LF; elsewhere it is part of a word, like VT and FF, and so
// a fault. LIBSVM takes the three for blanks in some places, and drops the text after them in others.
inline bool at_line_end(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

inline bool ends_word(const char* p) { return is_blank(*p) || at_line_end(p); }

// Skips blanks, up to the LF if nothing else follows.
inline const char* skip_blanks(const char* p) {
    while (is_blank(*p)) ++p;
    return *p == '\r' && p[1] == '\n' ? p + 1 : p;
}

}  // namespace fastsvm

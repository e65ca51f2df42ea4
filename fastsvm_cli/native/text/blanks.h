// Where the words of a text end.
#pragma once

namespace fastsvm {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// p: within text that ends in '\n'. A CR is a blank in front of LF alone. Elsewhere it is part of a word, as VT and FF
// are, and so a fault: LIBSVM takes the three for blanks in some places, and drops what follows them in others.
inline bool at_line_end(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

inline bool ends_word(const char* p) { return is_blank(*p) || at_line_end(p); }

// Past blanks, up to the LF if nothing else follows.
inline const char* skip_blanks(const char* p) {
    while (is_blank(*p)) ++p;
    return *p == '\r' && p[1] == '\n' ? p + 1 : p;
}

}  // namespace fastsvm

// What is wrong with a word of a text, for a message: what was found, what was expected.
#pragma once
#include <cstdint>
#include <string>

#include "text/numbers.h"

namespace fastsvm {

class Scaling;

// Whole lines stand behind every `p`, up to `end`. A word ends in front of a blank, a line end, or `delimiter`. All of
// them are marked cold, so that they are not compiled into the loops that call them.

// [p, end): printable, short.
std::string quote(const char* p, const char* end);
// The word at p likewise.
std::string quote_word(const char* p, const char* end, char delimiter = ' ');
// The word at p is not what was wanted there.
__attribute__((cold)) std::string word_fault(const char* p, const char* end, const char* wanted, char delimiter = ' ');
// The same, of a word that should be a number; the number's own status says more (ok: something stands behind it).
__attribute__((cold)) std::string number_fault(NumberStatus status, const char* p, const char* end, const char* wanted,
                                               char delimiter = ' ');
// Of the comment [p, end); empty: nothing.
__attribute__((cold)) std::string comment_fault(const char* p, const char* end, bool plain);
// The fault of an entry that could be read but not scaled. word: the entry's text.
__attribute__((cold)) std::string scaling_fault(const Scaling& scaling, std::int32_t index, const std::string& word);

}  // namespace fastsvm

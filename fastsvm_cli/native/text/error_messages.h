// Error messages: what was found, what was expected.
#pragma once
#include <cstdint>
#include <string>

#include "text/numbers.h"

namespace fastsvm {

class Scaling;

// p: in whole lines up to `end`. A word ends before a blank, a line end, or `delimiter`. Cold functions are not inlined
// into the calling loops.

// [p, end), printable and shortened.
std::string quote(const char* p, const char* end);
// Likewise the word at p.
std::string quote_word(const char* p, const char* end, char delimiter = ' ');
// The word at p is not `expected`.
__attribute__((cold)) std::string word_error(const char* p, const char* end, const char* expected,
                                             char delimiter = ' ');
// Likewise for a number. status: details (ok: other text follows it).
__attribute__((cold)) std::string number_error(NumberStatus status, const char* p, const char* end,
                                               const char* expected, char delimiter = ' ');
// Error of the comment [p, end); or empty.
__attribute__((cold)) std::string comment_error(const char* p, const char* end, bool plain);
// Error of an entry that cannot be scaled. word: its text.
__attribute__((cold)) std::string scaling_error(const Scaling& scaling, std::int32_t index, const std::string& word);

}  // namespace fastsvm

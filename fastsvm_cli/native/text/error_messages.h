// Messages of errors in text: what was found, and what was expected.
#pragma once
#include <cstdint>
#include <string>

#include "text/numbers.h"

namespace fastsvm {

class Scaling;

// p is in whole lines up to `end`. A word ends before a blank, a line end, or `delimiter`. Cold functions are not
// inlined into the calling loops.

// Quotes [p, end), printable and shortened.
std::string quote(const char* p, const char* end);
// Quotes the word at p likewise.
std::string quote_word(const char* p, const char* end, char delimiter = ' ');
// Message for a word at p that is not `expected`.
__attribute__((cold)) std::string word_error(const char* p, const char* end, const char* expected,
                                             char delimiter = ' ');
// Message for a word at p that is not a number. status: why not (ok: other text follows the number).
__attribute__((cold)) std::string number_error(NumberStatus status, const char* p, const char* end,
                                               const char* expected, char delimiter = ' ');
// Message of an error in the comment [p, end), or "". plain: refuses a ':' (Format::plain_comments).
__attribute__((cold)) std::string comment_error(const char* p, const char* end, bool plain);
// Message for an entry that cannot be scaled. word: its text.
__attribute__((cold)) std::string scaling_error(const Scaling& scaling, std::int32_t index, const std::string& word);

}  // namespace fastsvm

// The checksum of a file of ours, so that a changed digit is noticed and not believed; and the texts that a compiled
// model carries.
//
// Compiled models: the line `checksum <32 digits>` directly before `end`, of every byte before that line. LIBSVM's
// files with a line of ours after them (reduced sets, and models that scaling is folded into): the last word of that
// line, of every byte before that word. The digits are those of a fingerprint, line ends counted as LF, so that a copy
// with CRLF is still good. Version 1 of either had no checksum, and is read without one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fastsvm {

// The version of compiled models, and of the line of ours, that is written. Older ones are read, too.
constexpr int format_version = 2;
// The version of compiled models that carry a range; it adds nothing else.
constexpr int carrying_version = 3;
// The first word of a reduced set's last line, and of a LIBSVM model's that scaling is folded into.
inline constexpr const char* reduced_word = "fastsvm_reduced";
inline constexpr const char* folded_word = "fastsvm_folded";

// The text of a range file inside a model, and the number of its first line.
struct RangeText {
    std::string text;
    std::int64_t first_line;
};

struct OpenedText {
    std::string text;               // line ends are LF, the last line is `end`, the checksum is removed
    std::vector<RangeText> ranges;  // of the range file, then of e1071's y scale file; empty: none
};

// The file of a compiled model of this version, as its kind reads it, after its checksum was found good. Throws
// ModelFault.
OpenedText open_compiled(std::string_view text, int version);

// The first word of the line of ours with which a LIBSVM model's file ends, or "".
std::string own_line(std::string_view text);

// Throws ModelFault where the file of a LIBSVM model with a line of ours is not as it was written.
void check_own_line(std::string_view text);

}  // namespace fastsvm

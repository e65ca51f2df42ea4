// Checksums of fastsvm's files, and the texts that compiled models carry.
//
// Compiled models: the line `checksum <32 digits>` directly before `end`, of every byte before it. LIBSVM files with a
// last line of fastsvm's (reduced sets, folded scaling): that line's last word, of every byte before it. The digits are
// a fingerprint in which line ends count as LF, so copies with CRLF are valid. Version 1 of either has no checksum.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fastsvm {

// Written version of compiled models and of fastsvm's line; older ones are read.
constexpr int format_version = 2;
// Version of compiled models that carry a range; otherwise the same.
constexpr int carrying_version = 3;
// First word of the last line of a reduced set, and of a LIBSVM model with folded scaling.
inline constexpr const char* reduced_word = "fastsvm_reduced";
inline constexpr const char* folded_word = "fastsvm_folded";

// The text of a range file inside a model, and its first line's number.
struct RangeText {
    std::string text;
    std::int64_t first_line;
};

struct OpenedText {
    std::string text;               // line ends are LF, the last line is `end`, the checksum is removed
    std::vector<RangeText> ranges;  // the range file's, then e1071's y scale file's; empty if none
};

// Checks the checksum, and returns the text for the kind's reader. Throws ModelFault.
OpenedText open_compiled(std::string_view text, int version);

// First word of the file's last line if it is fastsvm's, or "".
std::string own_line(std::string_view text);

// Throws ModelFault if a LIBSVM model with fastsvm's line was changed.
void check_own_line(std::string_view text);

}  // namespace fastsvm

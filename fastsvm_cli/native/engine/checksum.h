// Fingerprints (SHA-256), and checksums of fastsvm's files.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fastsvm {

// Computes the digest of bytes that come in parts.
class Sha256 {
public:
    void update(const char* data, std::size_t size);
    // The digest's 64 hexadecimal digits. Ends the use of this object.
    std::string hexadecimal();

private:
    void blocks(const unsigned char* data, std::size_t count);
    std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, 64> rest_{};  // incomplete last block
    std::size_t held_ = 0;
    std::uint64_t size_ = 0;
};

constexpr std::size_t fingerprint_digits = 32;

// The first half of a text's digest; identifies a compiled model's source file.
std::string fingerprint(std::string_view text);

// Checksums of fastsvm's files, and texts embedded in compiled models.
//
// A compiled model has the line `checksum <32 digits>` before `end`. A LIBSVM file whose last line is fastsvm's
// (reduced set, folded scaling) ends in the digits. They are the fingerprint of all bytes before that line, or before
// the digits. Line ends count as LF, so copies with CRLF are valid.

// Version of compiled models and of fastsvm's line; no release wrote an older one.
constexpr int format_version = 2;
inline constexpr const char* too_old = "which was written before release 0.1.0: compile the model again";
// Version of compiled models that embed a range.
constexpr int embedding_version = 3;
// First words of fastsvm's line: reduced set; LIBSVM model with folded scaling.
inline constexpr const char* reduced_word = "fastsvm_reduced";
inline constexpr const char* folded_word = "fastsvm_folded";

// A range file in a model, and its first line's number.
struct RangeText {
    std::string text;
    std::int64_t first_line;
};

// A compiled model's text with a valid checksum.
struct OpenedText {
    std::string text;               // line ends are LF, the last line is `end`, without checksum
    std::vector<RangeText> ranges;  // the range file, then e1071's y scale file; or empty
};

// Checks the checksum. Returns the text for the kind's reader. Throws ModelError.
OpenedText open_compiled(std::string_view text, int version);

// The first line of a compiled model's file.
std::string first_line(const std::string& kind, bool embeds);
// Appends the end of that file: the texts that it embeds, the checksum, and `end`.
void add_checksum(std::string& text, const std::vector<std::string>& embedded);
// Appends the digits to a LIBSVM model whose last line is fastsvm's, and ends the line.
void add_checksum_to_own_line(std::string& text);

bool ends_with(std::string_view text, std::string_view end);

// Returns the first word of the last line if it is fastsvm's, or "".
std::string own_line(std::string_view text);

// Throws ModelError if a LIBSVM model with fastsvm's line was changed.
void check_own_line(std::string_view text);

}  // namespace fastsvm

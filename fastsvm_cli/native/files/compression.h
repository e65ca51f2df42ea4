// Recognizes compressed files by their first bytes.
#pragma once
#include <cstddef>
#include <string_view>

namespace fastsvm {

// A format of compressed files, which begin with the bytes `magic`.
struct Compression {
    std::string_view magic;
    const char* name;
    const char* tool;  // command that prints the content
};

// Number of bytes that identify a format.
constexpr std::size_t magic_bytes = 6;

// Returns the format of a file that begins with these magic_bytes bytes, or that has only these; null if it is not
// compressed.
const Compression* compression(std::string_view start);

// Whether a file that begins with these bytes, perhaps fewer than magic_bytes, may be compressed.
bool may_be_compressed(std::string_view start);

}  // namespace fastsvm

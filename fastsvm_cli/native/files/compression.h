// What files are compressed with, by their first bytes.
#pragma once
#include <cstddef>
#include <string_view>

namespace fastsvm {

struct Compression {
    std::string_view magic;
    const char* name;
    const char* tool;  // the command that prints what such a file holds
};

// So many first bytes tell a compression from others.
constexpr std::size_t magic_bytes = 6;

// Of a file that begins with these bytes (magic_bytes of them, if it has so many); null if it is not compressed.
const Compression* compression(std::string_view start);

// Whether a file that begins with these bytes, perhaps fewer than magic_bytes, may be compressed.
bool may_be_compressed(std::string_view start);

}  // namespace fastsvm

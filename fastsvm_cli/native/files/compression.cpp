#include "files/compression.h"

#include <algorithm>
#include <iterator>

namespace fastsvm {

namespace {

template <std::size_t size> constexpr std::string_view bytes(const char (&text)[size]) { return {text, size - 1}; }

constexpr Compression compressions[] = {
    {bytes("\x1f\x8b"), "gzip", "zcat"},
    {bytes("BZh"), "bzip2", "bzcat"},
    {bytes("\xfd\x37zXZ\0"), "xz", "xzcat"},
    {bytes("\x28\xb5\x2f\xfd"), "zstd", "zstdcat"},
    {bytes("\x50\x2a\x4d\x18"), "zstd", "zstdcat"},
    {bytes("\x04\x22\x4d\x18"), "lz4", "lz4 -dc"},
    {bytes("PK\x03\x04"), "zip", "unzip -p"},
    {bytes("\x1f\x9d"), "compress (.Z)", "zcat"},
    {bytes("7z\xbc\xaf\x27\x1c"), "7-Zip", "7z x -so"},
    {bytes("LZIP"), "lzip", "lzip -dc"},
    {bytes("\x89LZO"), "lzop", "lzop -dc"},
};

bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

}  // namespace

const Compression* compression(std::string_view start) {
    const auto found = std::find_if(std::begin(compressions), std::end(compressions),
                                    [&](const Compression& each) { return begins_with(start, each.magic); });
    return found == std::end(compressions) ? nullptr : found;
}

bool may_be_compressed(std::string_view start) {
    const std::string_view first = start.substr(0, 3);
    return !first.empty() && std::any_of(std::begin(compressions), std::end(compressions),
                                         [&](const Compression& each) { return begins_with(each.magic, first); });
}

}  // namespace fastsvm

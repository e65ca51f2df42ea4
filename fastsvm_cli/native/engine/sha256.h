// SHA-256 (FIPS 180-4), and fingerprints.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace fastsvm

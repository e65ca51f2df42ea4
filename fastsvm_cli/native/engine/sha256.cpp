#include "engine/sha256.h"

#include <algorithm>
#include <cstring>

#ifdef FASTSVM_X86
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace fastsvm {

namespace {

constexpr std::uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t rotated(std::uint32_t x, int by) { return x >> by | x << (32 - by); }

void plain_blocks(std::uint32_t* state, const unsigned char* data, std::size_t count) {
    for (; count; --count, data += 64) {
        std::uint32_t w[64];
        for (int i = 0; i < 16; ++i)
            w[i] = std::uint32_t{data[4 * i]} << 24 | std::uint32_t{data[4 * i + 1]} << 16 |
                   std::uint32_t{data[4 * i + 2]} << 8 | data[4 * i + 3];
        for (int i = 16; i < 64; ++i)
            w[i] = w[i - 16] + w[i - 7] + (rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3) +
                   (rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10);
        std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        std::uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; ++i) {
            const std::uint32_t first =
                h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
            const std::uint32_t second =
                (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
        }
        const std::uint32_t after[8] = {a, b, c, d, e, f, g, h};
        for (int i = 0; i < 8; ++i) state[i] += after[i];
    }
}

#ifdef FASTSVM_X86
// Four rounds per pair of instructions; needs the SHA extensions.
__attribute__((target("sha,sse4.1"))) void sha_blocks(std::uint32_t* state, const unsigned char* data,
                                                      std::size_t count) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    // The instructions keep the state as ABEF and CDGH.
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state)), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; count; --count, data += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; ++i)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 16 * i)), big_endian);
        for (int i = 0; i < 16; ++i) {
            const __m128i now = w[i & 3];
            const __m128i sum =
                _mm_add_epi32(now, _mm_loadu_si128(reinterpret_cast<const __m128i*>(constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            if (i >= 12) continue;
            // w[i + 4] from w[i], ..., w[i + 3]
            const __m128i middle = _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4);
            w[i & 3] =
                _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) & 3]), middle), w[(i + 3) & 3]);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(high, low, 8));
}

bool has_sha() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_SHA) && __builtin_cpu_supports("sse4.1");
}
#endif

}  // namespace

void Sha256::blocks(const unsigned char* data, std::size_t count) {
#ifdef FASTSVM_X86
    static const bool sha = has_sha();
    if (sha) return sha_blocks(state_.data(), data, count);
#endif
    plain_blocks(state_.data(), data, count);
}

void Sha256::update(const char* data, std::size_t size) {
    if (!size) return;  // empty data may have no address
    const auto* p = reinterpret_cast<const unsigned char*>(data);
    size_ += size;
    if (held_) {
        const std::size_t more = std::min(size, rest_.size() - held_);
        std::memcpy(rest_.data() + held_, p, more);
        held_ += more, p += more, size -= more;
        if (held_ < rest_.size()) return;
        blocks(rest_.data(), 1);
        held_ = 0;
    }
    blocks(p, size / 64);
    held_ = size % 64;
    std::memcpy(rest_.data(), p + size - held_, held_);
}

std::string Sha256::hexadecimal() {
    const std::uint64_t bits = size_ * 8;
    std::array<char, 72> padding{};
    padding[0] = static_cast<char>(0x80);
    const std::size_t zeros = (held_ < 56 ? 56 : 120) - held_;
    for (int i = 0; i < 8; ++i) padding[zeros + static_cast<std::size_t>(i)] = static_cast<char>(bits >> (56 - 8 * i));
    update(padding.data(), zeros + 8);
    std::string out;
    for (std::uint32_t word : state_)
        for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15];
    return out;
}

std::string fingerprint(std::string_view text) {
    Sha256 digest;
    digest.update(text.data(), text.size());
    return digest.hexadecimal().substr(0, fingerprint_digits);
}

}  // namespace fastsvm

#include "engine/checksum.h"

#include <algorithm>
#include <cstring>

#include "engine/header.h"
#include "text/parse.h"

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

namespace {

constexpr std::string_view last_line = "end\n";
constexpr std::array<const char*, 2> range_words{"range", "y_range"};
const std::string changed =
    "the checksum does not fit the content: the file was changed after fastsvm wrote it; compile the model again";

std::string with_line_feeds(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = std::min(text.find("\r\n", at), text.size());
        out.append(text.substr(at, next - at));
        at = next + (next < text.size() ? 1 : 0);
    }
    return out;
}

// Offset of the last line, with or without line end.
std::size_t start_of_last_line(std::string_view text) {
    return text.size() < 2 ? 0 : text.rfind('\n', text.size() - 2) + 1;  // npos + 1 is 0
}

void take_ranges(OpenedText& out) {
    std::string& text = out.text;
    const std::size_t at = text.rfind(std::string("\n") + range_words[0] + " ") + 1;
    if (!at)
        throw ModelError("a model of version " + std::to_string(embedding_version) +
                         " without a range found, expected one after its body");
    std::int64_t number = line_at(text, at);
    std::string_view rest(text.data() + at, text.size() - last_line.size() - at);  // all lines are complete
    for (const char* word : range_words) {
        if (rest.empty() && !out.ranges.empty()) break;
        const std::string_view first = rest.substr(0, rest.find('\n'));
        const std::vector<std::string_view> words = split_words(first);
        const bool counts = words.size() == 2 && words[1].size() < 10 && only_digits(words[1]);
        const std::int64_t count = counts ? std::stol(std::string(words[1])) : 0;
        if (!counts || words[0] != word || count >= count_lines(rest))
            throw ModelError("'" + ascii(first.substr(0, 40)) + "' found, expected '" + word + "' and its lines",
                             number);
        rest.remove_prefix(first.size() + 1);
        std::size_t size = 0;
        for (std::int64_t line = 0; line < count; ++line) size = rest.find('\n', size) + 1;
        out.ranges.push_back({std::string(rest.substr(0, size)), number + 1});
        number += count + 1;
        rest.remove_prefix(size);
    }
    if (!rest.empty()) throw ModelError("text found after the lines of the range", number);
    text.resize(at);
    text += last_line;
}

}  // namespace

OpenedText open_compiled(std::string_view given, int version) {
    OpenedText out;
    out.text = given.find('\r') == std::string_view::npos ? std::string(given) : with_line_feeds(given);
    std::string& text = out.text;
    if (!ends_with(text, "\nend\n"))
        throw ModelError("the last line is not 'end': the file is cut off, or has been added to");
    const std::size_t before_end = text.size() - last_line.size();
    const std::size_t content = before_end < 2 ? 0 : text.rfind('\n', before_end - 2) + 1;
    const std::string_view checked(text.data(), content);
    if (text.compare(content, std::string::npos, "checksum " + fingerprint(checked) + "\nend\n") != 0)
        throw ModelError(changed);
    text.resize(content);
    text += last_line;
    for (char byte : {'\r', '\v', '\f'}) {  // the kinds' readers would accept these as blanks
        const std::size_t at = text.find(byte);
        if (at == std::string::npos) continue;
        const std::size_t begin = text.rfind('\n', at) + 1;
        line_words(std::string_view(text).substr(begin, text.find('\n', at) - begin), line_at(text, at));
    }
    if (version == embedding_version) take_ranges(out);
    return out;
}

std::string first_line(const std::string& kind, bool embeds) {
    return "fastsvm_model " + kind + ' ' + std::to_string(embeds ? embedding_version : format_version) + '\n';
}

void add_checksum(std::string& text, const std::vector<std::string>& embedded) {
    for (std::size_t i = 0; i < embedded.size(); ++i) {
        const std::int64_t lines = count_lines(embedded[i]);
        text += range_words.at(i) + (' ' + std::to_string(lines)) + '\n' + embedded[i];
    }
    text += "checksum " + fingerprint(text) + '\n' + std::string(last_line);
}

void add_checksum_to_own_line(std::string& text) {
    text += ' ';
    text += fingerprint(text) + '\n';
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string own_line(std::string_view text) {
    const std::string_view line = text.substr(start_of_last_line(text));
    for (const char* word : {reduced_word, folded_word})
        if (line.substr(0, std::string_view(word).size() + 1) == std::string(word) + " ") return word;
    return "";
}

void check_own_line(std::string_view text) {
    const std::size_t start = start_of_last_line(text);
    const std::vector<std::string_view> words = split_words(text.substr(start, 80));
    if (words.size() < 2 || words[1] != std::to_string(format_version)) return;
    const std::string counted = with_line_feeds(text);
    const std::size_t word = counted.rfind(' ') + 1;
    if (counted.compare(word, std::string::npos, fingerprint(std::string_view(counted).substr(0, word)) + "\n") != 0)
        throw ModelError(changed + ", or delete this line to use the file as a LIBSVM model and no more",
                         line_at(text, start));
}

}  // namespace fastsvm

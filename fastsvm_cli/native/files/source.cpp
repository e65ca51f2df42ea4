#include "files/source.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "system/platform.h"

namespace fastsvm {

namespace {

bool closed[3];

using namespace std::string_view_literals;

constexpr Compression compressions[] = {
    {"\x1f\x8b"sv, "gzip", "zcat"},
    {"BZh"sv, "bzip2", "bzcat"},
    {"\xfd\x37zXZ\0"sv, "xz", "xzcat"},
    {"\x28\xb5\x2f\xfd"sv, "zstd", "zstdcat"},
    {"\x50\x2a\x4d\x18"sv, "zstd", "zstdcat"},
    {"\x04\x22\x4d\x18"sv, "lz4", "lz4 -dc"},
    {"PK\x03\x04"sv, "zip", "unzip -p"},
    {"\x1f\x9d"sv, "compress (.Z)", "zcat"},
    {"7z\xbc\xaf\x27\x1c"sv, "7-Zip", "7z x -so"},
    {"LZIP"sv, "lzip", "lzip -dc"},
    {"\x89LZO"sv, "lzop", "lzop -dc"},
};

bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

std::string shell_word(const std::string& text) {
    const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("@%+=:,./-_", c); };
    if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
    std::string out = "'";
    for (char c : text) out += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
    return out + "'";
}

std::string on_the_way(const char* tool, const std::string& path) {
    return std::string("; type: ") + tool + (path == "-" ? "" : " " + shell_word(path)) + " | fastsvm-predict ... -";
}

// The part of zlib's interface in use, loaded for the first compressed file.
struct ZStream {
    const unsigned char* next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char* next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char* msg;
    void* state;
    void *allocate, *release, *opaque;
    int data_type;
    unsigned long adler, reserved;
};
constexpr int z_ok = 0, z_stream_end = 1, z_buf_error = -5;

struct Zlib {
    int (*init)(ZStream*, int, const char*, int) = nullptr;
    int (*inflate)(ZStream*, int) = nullptr;
    int (*reset)(ZStream*) = nullptr;
    int (*end)(ZStream*) = nullptr;
    const char* (*version)() = nullptr;

    static const Zlib* find() {
        static const Zlib found = [] {
            Zlib out;
            void* library = nullptr;
            for (const char* name : {"libz.so.1", "libz.so", "libz.dylib"})
                if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
            if (!library) return out;
            const auto look = [&](const char* name, auto& function) {
                function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
            };
            look("inflateInit2_", out.init), look("inflate", out.inflate), look("inflateReset", out.reset);
            look("inflateEnd", out.end), look("zlibVersion", out.version);
            return out;
        }();
        return found.init && found.inflate && found.reset && found.end && found.version ? &found : nullptr;
    }
};

}  // namespace

void hold_closed_descriptors() {
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
        if (fcntl(descriptor, F_GETFD) >= 0) continue;
        closed[descriptor] = true;
        open("/dev/null", names_only ? names_only : descriptor == 0 ? O_WRONLY : O_RDONLY);
    }
}

bool was_closed(int descriptor) { return descriptor >= 0 && descriptor < 3 && closed[descriptor]; }

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

// Reads concatenated gzip streams, as gzip does.
class Source::Inflater {
public:
    explicit Inflater(const std::string& path) : path_(path), zlib_(Zlib::find()) {
        if (!zlib_)
            throw FileError(display(path),
                            "gzip data found, and no zlib on this machine to read it" + on_the_way("zcat", path));
        constexpr int gzip_alone = 31;
        if (zlib_->init(&stream_, gzip_alone, zlib_->version(), static_cast<int>(sizeof stream_)) != z_ok)
            throw std::bad_alloc();
    }
    ~Inflater() { zlib_->end(&stream_); }
    Inflater(const Inflater&) = delete;

    template <class Read> std::size_t read(char* buffer, std::size_t size, Read more) {
        stream_.next_out = reinterpret_cast<unsigned char*>(buffer);
        stream_.avail_out = static_cast<unsigned>(std::min<std::size_t>(size, 1u << 30));
        const unsigned requested = stream_.avail_out;
        while (requested && stream_.avail_out == requested) {
            if (!stream_.avail_in && !input_ended_) {
                input_.resize(1 << 18);
                const std::size_t got = more(input_.data(), input_.size());
                stream_.next_in = reinterpret_cast<const unsigned char*>(input_.data());
                stream_.avail_in = static_cast<unsigned>(got);
                input_ended_ = got == 0;
            }
            if (!inside_)  // padding between streams
                while (stream_.avail_in && *stream_.next_in == 0) ++stream_.next_in, --stream_.avail_in;
            if (!stream_.avail_in) {
                if (!input_ended_) continue;
                if (inside_) throw FileError(display(path_), "the gzip data ends too early");
                return 0;
            }
            inside_ = true;
            const int status = zlib_->inflate(&stream_, 0);
            if (status == z_stream_end) {
                zlib_->reset(&stream_);
                inside_ = false;
            } else if (status != z_ok && status != z_buf_error) {
                throw FileError(display(path_), "the gzip data is damaged");
            }
        }
        return requested - stream_.avail_out;
    }

private:
    const std::string path_;
    const Zlib* const zlib_;
    ZStream stream_{};
    std::vector<char> input_;
    bool inside_ = false, input_ended_ = false;
};

Source::Source(const std::string& path, bool decompress, std::function<void()> interrupted)
    : path_(path), interrupted_(std::move(interrupted)) {
    while ((file_ = path == "-" ? 0 : open(path.c_str(), O_RDONLY | O_CLOEXEC)) < 0 && errno == EINTR)
        if (interrupted_) interrupted_();
    if (file_ < 0) throw system_error(display(path), errno);
    widen_pipe(file_, 1 << 20);
    try {
        char start[magic_bytes];
        // Text begins with a digit or a sign. Wait for more only after bytes of a magic number.
        do {
            const std::size_t got = read_descriptor(start, magic_bytes - pending_.size());
            if (!got) break;
            pending_.append(start, got);
        } while (pending_.size() < magic_bytes && may_be_compressed(pending_));
        const Compression* const found = compression(pending_);
        compressed_ = found != nullptr;
        if (found && decompress) {
            if (std::strcmp(found->name, "gzip") != 0)
                throw FileError(display(path), std::string(found->name) + " data found, expected text or gzip" +
                                                   on_the_way(found->tool, path));
            inflater_ = std::make_unique<Inflater>(path);
        }
    } catch (...) {
        if (file_ > 0) close(file_);
        throw;
    }
}

Source::~Source() {
    if (file_ > 0) close(file_);
}

std::pair<int, std::string> Source::release() { return {std::exchange(file_, -1), std::move(pending_)}; }

std::size_t Source::read_descriptor(char* buffer, std::size_t size) {
    constexpr int patience = 100;  // milliseconds: a signal may arrive just before a call that waits
    pollfd waiting{file_, POLLIN, 0};
    for (;;) {
        if (interrupted_)
            while (poll(&waiting, 1, patience) <= 0) interrupted_();
        const ssize_t got = ::read(file_, buffer, size);
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) throw system_error(display(path_), errno);
        poll(&waiting, 1, -1);  // another program made the pipe non-blocking
    }
}

std::size_t Source::read_file(char* buffer, std::size_t size) {
    if (taken_ == pending_.size()) return read_descriptor(buffer, size);
    const std::size_t got = std::min(size, pending_.size() - taken_);
    std::memcpy(buffer, pending_.data() + taken_, got);
    taken_ += got;
    return got;
}

std::size_t Source::read(char* buffer, std::size_t size) {
    if (!inflater_) return read_file(buffer, size);
    return inflater_->read(buffer, size, [&](char* to, std::size_t most) { return read_file(to, most); });
}

bool Source::ready() const {
    if (taken_ < pending_.size()) return true;
    pollfd waiting{file_, POLLIN, 0};
    return poll(&waiting, 1, 0) > 0;
}

}  // namespace fastsvm

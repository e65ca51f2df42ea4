#include "files/output.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "files/source.h"
#include "system/platform.h"

namespace fastsvm {

namespace {

constexpr std::chrono::seconds sync_after{1};  // longer runs flush their output to the disk
constexpr int names = 8;                       // names searched for files of dead processes
constexpr std::size_t copied_at_a_time = 1 << 20;

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int most_files = 3;  // that a run writes
// A signal handler must not allocate.
char temporary[most_files][PATH_MAX + 1];
volatile sig_atomic_t to_remove[most_files];
volatile sig_atomic_t announced = 0;
bool heeded = false;

void stop(int number) {
    for (int i = 0; i < most_files; ++i)
        if (to_remove[i]) unlink(temporary[i]);
    static constexpr char line[] = "Interrupted.\n";
    if (announced && number == SIGINT && write(2, line, sizeof line - 1) < 0) _exit(128 + number);  // it is closed
    _exit(128 + number);
}

sigset_t stop_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int number : signals) sigaddset(&set, number);
    return set;
}

// Adds a file to remove. Ignored without StopSignals: a program that uses the library handles signals itself.
void remove_when_stopped(const std::string& path) {
    if (!heeded || path.size() > PATH_MAX) return;
    for (int i = 0; i < most_files; ++i) {
        if (to_remove[i]) continue;
        std::memcpy(temporary[i], path.c_str(), path.size() + 1);
        to_remove[i] = 1;
        return;
    }
}

void keep_when_stopped(const std::string& path) {
    for (int i = 0; i < most_files; ++i)
        if (to_remove[i] && path == temporary[i]) to_remove[i] = 0;
}

// Delays the calling thread's stop signals while it lives.
class StopHeld {
public:
    StopHeld() {
        const sigset_t set = stop_signals();
        pthread_sigmask(SIG_BLOCK, &set, &before_);
    }
    ~StopHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    StopHeld(const StopHeld&) = delete;

private:
    sigset_t before_;
};

[[noreturn]] void fail_of(const std::string& path, int error) {
    const bool denied = error == EACCES || error == EPERM || error == EROFS || error == ETXTBSY;
    if (denied) throw FileError(display_output(path), std::string("cannot write: ") + std::strerror(error), error);
    if (error == ENOENT && path.find('/') != std::string::npos)
        throw FileError(display_output(path), "No such file or directory: the output's directory must exist", error);
    throw system_error(display_output(path), error);
}

// The system would take the bytes before it for the name.
void refuse_null(const std::string& path) {
    if (path.find('\0') != path.npos) throw std::invalid_argument("embedded null byte");
}

void require_writable(const std::string& path, int descriptor) {
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) fail_of(path, errno);
    if (names_only && (flags & names_only)) fail_of(path, EBADF);  // a placeholder (source.cpp)
    if ((flags & O_ACCMODE) == O_RDONLY) throw FileError(display_output(path), "it is open for reading only");
}

// False if there is no file.
bool status_of(const std::string& path, struct stat& status) {
    if (stat(path.c_str(), &status) == 0) return true;
    if (errno != ENOENT) fail_of(path, errno);
    return false;
}

std::string real_path(const std::string& path) {
    // The file need not exist; its folder must.
    const auto resolved = [](const std::string& each) {
        const std::unique_ptr<char, void (*)(void*)> whole(realpath(each.c_str(), nullptr), free);
        return std::string(whole ? whole.get() : "");
    };
    if (const std::string whole = resolved(path); !whole.empty()) return whole;
    const std::size_t slash = path.rfind('/');  // npos + 1 is 0
    char link[PATH_MAX];
    const ssize_t length = readlink(path.c_str(), link, sizeof link);
    if (length > 0) {
        const std::string to(link, static_cast<std::size_t>(length));
        return real_path(to[0] == '/' ? to : path.substr(0, slash + 1) + to);
    }
    const std::string folder =
        resolved(slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1)));
    return folder.empty() ? path : folder + (folder == "/" ? "" : "/") + path.substr(slash + 1);
}

// Removes a temporary file whose lock is free: its process has ended.
void remove_if_dead(const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    struct stat mine, named;
    if (fstat(file, &mine) == 0 && S_ISREG(mine.st_mode) && flock(file, LOCK_EX | LOCK_NB) == 0 &&
        lstat(path.c_str(), &named) == 0 && mine.st_dev == named.st_dev && mine.st_ino == named.st_ino)
        unlink(path.c_str());
    close(file);
}

// Creates a file that is locked while open; -1 if the name is taken.
int create_locked(const std::string& output, const std::string& path, mode_t mode) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0) {
        if (errno == EEXIST) return -1;
        fail_of(output, errno);
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return file;  // no locks here: no process removes the file
        close(file);                            // another process took it for a dead one's
        return -1;
    }
    struct stat status;
    if (fstat(file, &status) == 0 && status.st_nlink == 0) {
        close(file);
        return -1;
    }
    return file;
}

// Copies owner, group and mode. Returns false if the new file cannot replace the previous one.
bool liken(int file, int other, const struct stat& previous) {
    if (previous.st_nlink > 1) return false;
    struct stat mine;
    if (fstat(file, &mine) != 0) return false;
    if ((mine.st_uid != previous.st_uid || mine.st_gid != previous.st_gid) &&
        fchown(file, previous.st_uid, previous.st_gid) != 0)
        return false;
    if (fchmod(file, previous.st_mode & 07777) != 0) return false;
    std::map<std::string, std::string> ours, theirs;
    return extended_attributes(file, ours) && extended_attributes(other, theirs) && ours == theirs;
}

bool sync_file(int file) {
    // Not every file system supports it.
    return fsync(file) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
}

}  // namespace

StopSignals::StopSignals() {
    heeded = true;
    for (std::size_t i = 0; i < std::size(signals); ++i) {
        struct sigaction action{};
        action.sa_handler = stop;
        action.sa_mask = stop_signals();
        if (sigaction(signals[i], nullptr, &before_[i]) == 0 && before_[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, nullptr);
    }
}

StopSignals::~StopSignals() {
    for (std::size_t i = 0; i < std::size(signals); ++i) sigaction(signals[i], &before_[i], nullptr);
    heeded = false;
}

void announce_interruption() { announced = 1; }

std::optional<int> standard_descriptor(const std::string& path) {
    if (path == "-" || path == "/dev/stdout") return 1;
    if (path == "/dev/stderr") return 2;
    for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (path.compare(0, folder.size(), folder) != 0) continue;
        const std::string digits = path.substr(folder.size());
        // More digits are not a descriptor.
        if (!digits.empty() && digits.size() < 10 && digits.find_first_not_of("0123456789") == std::string::npos)
            return std::stoi(digits);
    }
    return std::nullopt;
}

Output::Output(const std::string& path, std::function<void()> interrupted)
    : path_(path), interrupted_(std::move(interrupted)), start_(std::chrono::steady_clock::now()) {
    refuse_null(path);
    try {
        file_ = open_output();
    } catch (...) {
        close_all();
        throw;
    }
}

int Output::open_output() {
    if (const auto descriptor = standard_descriptor(path_)) {
        require_writable(path_, *descriptor);
        const int file = dup(*descriptor);
        if (file < 0) fail_of(path_, errno);
        return file;
    }
    struct stat previous;
    const bool there = status_of(path_, previous);
    while (there && !S_ISREG(previous.st_mode)) {  // a device, or a FIFO, which waits for its reader
        const int file = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        if (file >= 0) return file;
        if (errno != EINTR) fail_of(path_, errno);
        if (interrupted_) interrupted_();
    }
    if (path_.empty()) fail_of(path_, ENOENT);
    const std::string name = path_.substr(path_.rfind('/') + 1);
    if (name.empty() || name == "." || name == "..") fail_of(path_, EISDIR);
    target_ = real_path(path_);
    if (!there) return create_temporary(0666);
    // Refuse a file that svm-predict could not open; a rename alone would replace it.
    previous_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (previous_ < 0) fail_of(path_, errno);
    int file = -1;
    try {
        file = create_temporary(0600);
    } catch (const FileError& failure) {
        if (failure.error != EACCES && failure.error != EPERM && failure.error != EROFS) throw;
        in_place_ = true;
        return previous_;
    }
    if (liken(file, previous_, previous)) close(std::exchange(previous_, -1));
    return file;
}

Output::~Output() { close_all(); }

void Output::close_all() {
    abandon();
    if (previous_ >= 0 && previous_ != file_) close(previous_);
    if (file_ >= 0) close(file_);
    previous_ = file_ = -1;
}

void Output::abandon() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
    forget_temporary();
}

int Output::create_temporary(mode_t mode) {
    const std::size_t slash = target_.rfind('/');  // npos + 1 is 0
    const std::string folder = target_.substr(0, slash + 1), name = target_.substr(slash + 1, 200);
    int file = -1;
    for (int attempt = 0; file < 0 || attempt < names; ++attempt) {
        if (attempt == 1000) fail_of(path_, EEXIST);
        const std::string temporary = folder + "." + name + ".fastsvm-" + std::to_string(attempt) + ".tmp";
        remove_if_dead(temporary);
        if (file >= 0) continue;
        const StopHeld held;
        file = create_locked(path_, temporary, mode);
        if (file < 0) continue;
        file_ = file;
        temporary_ = temporary;
        remove_when_stopped(temporary);
    }
    return file;
}

void Output::empty() {
    // Delete the previous content only once there is new content.
    if (previous_ < 0) return;
    if (ftruncate(previous_, 0) != 0) fail_of(path_, errno);
    previous_ = -1;
}

void Output::write(const char* data, std::size_t size) {
    if (in_place_) empty();
    while (size) {
        const ssize_t done = ::write(file_, data, size);
        if (done >= 0) {
            data += done;
            size -= static_cast<std::size_t>(done);
        } else if (errno == EPIPE) {
            throw ReaderGone();
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {  // another program made the pipe non-blocking
            pollfd waiting{file_, POLLOUT, 0};
            poll(&waiting, 1, -1);
        } else if (errno == EINTR) {
            if (interrupted_) interrupted_();
        } else {
            fail_of(path_, errno);
        }
    }
}

void Output::finish() {
    if (in_place_) empty();
    const bool took_long = std::chrono::steady_clock::now() - start_ > sync_after;
    if (temporary_.empty()) {
        if (took_long && in_place_ && !sync_file(file_)) fail_of(path_, errno);
        // A network file system may report a full disk here.
        if (close(std::exchange(file_, -1)) != 0) fail_of(path_, errno);
        return;
    }
    struct stat before;
    const bool replaces = stat(target_.c_str(), &before) == 0 && before.st_size > 0;
    if ((took_long || previous_ >= 0 || replaces) && !sync_file(file_)) fail_of(path_, errno);
    // The lock belongs to the open file: keep it until the rename.
    const int again = dup(file_), file = file_;
    file_ = again;
    if (again < 0 || close(file) != 0) fail_of(path_, errno);
    const StopHeld held;
    if (previous_ < 0 && !rename_over()) {
        previous_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
        if (previous_ < 0) fail_of(path_, errno);
    }
    if (previous_ >= 0) copy_over();
    if (!took_long) return;
    const std::size_t slash = target_.rfind('/');
    const int folder =
        open(target_.substr(0, std::max<std::size_t>(slash, 1)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;  // a writable folder may be unreadable
    fsync(folder);
    close(folder);
}

bool Output::rename_over() {
    if (rename(temporary_.c_str(), target_.c_str()) == 0) {
        forget_temporary();
        return true;
    }
    struct stat status;
    const int error = errno;
    if ((error == EACCES || error == EBUSY || error == EPERM) && stat(target_.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode))
        return false;  // it cannot be replaced, such as a mount point
    fail_of(path_, error);
}

void Output::copy_over() {
    // Reserve space first, so that a full disk does not destroy the previous content.
    struct stat mine, previous;
    if (fstat(file_, &mine) != 0 || fstat(previous_, &previous) != 0) fail_of(path_, errno);
    if (mine.st_size) {
        const int error = reserve(previous_, mine.st_size);
        // EBADF: the C library's fallback needs to read the file.
        if (error && error != EBADF && error != EINVAL && error != ENOSYS && error != ENOTSUP) {
            if (ftruncate(previous_, previous.st_size) != 0) fail_of(path_, errno);
            fail_of(path_, error);
        }
    }
    std::string buffer(copied_at_a_time, 0);
    int error = 0;
    for (off_t at = 0; at < mine.st_size && !error;) {
        const ssize_t got = pread(file_, &buffer[0], buffer.size(), at);
        const ssize_t put = got > 0 ? pwrite(previous_, buffer.data(), static_cast<std::size_t>(got), at) : -1;
        if (got <= 0)
            error = got == 0 ? EIO : errno;
        else if (put < 0)
            error = errno;
        else
            at += put;
    }
    if (!error && (ftruncate(previous_, mine.st_size) != 0 || !sync_file(previous_))) error = errno;
    if (!error) return;
    // Only the temporary file is complete.
    const std::string left = temporary_;
    forget_temporary();
    throw FileError(display_output(path_), std::string(std::strerror(error)) + "; the result is in " + left);
}

void Output::forget_temporary() {
    if (temporary_.empty()) return;
    keep_when_stopped(temporary_);
    temporary_.clear();
}

void check_output(const std::string& path, const std::vector<std::string>& inputs) {
    refuse_null(path);
    const auto descriptor = standard_descriptor(path);
    struct stat found;
    bool there = true;
    if (descriptor) {
        require_writable(path, *descriptor);
        if (fstat(*descriptor, &found) != 0) fail_of(path, errno);
    } else {
        there = status_of(path, found);
    }
    if (there && S_ISREG(found.st_mode)) {
        for (const std::string& each : inputs) {
            struct stat input;
            if ((each == "-" ? fstat(0, &input) : stat(each.c_str(), &input)) != 0)
                continue;  // the reader reports the error
            if (input.st_dev != found.st_dev || input.st_ino != found.st_ino) continue;
            const std::string what = each == path ? "the input" : display(each) + ", which is the same file";
            throw FileError(display_output(path), "the output would replace " + what + "; name another output file");
        }
    } else if (there) {
        // Do not open a FIFO: that waits for its reader, and closing ends its input.
        if (!descriptor && access(path.c_str(), W_OK) != 0) fail_of(path, EACCES);
        if (!S_ISDIR(found.st_mode)) return;
    }
    if (!descriptor) Output{path};
}

void check_apart(const std::vector<std::string>& paths) {
    std::map<std::string, std::string> seen;  // identity of a file -> its name
    for (const std::string& path : paths) {
        refuse_null(path);
        const auto descriptor = standard_descriptor(path);
        struct stat found;
        const bool there = (descriptor ? fstat(*descriptor, &found) : stat(path.c_str(), &found)) == 0;
        if (!there && errno != ENOENT) throw system_error(display_output(path), errno);
        std::vector<std::string> identities;
        if (descriptor) identities.push_back("descriptor " + std::to_string(*descriptor));
        if (!there)
            identities.push_back("path " + real_path(path));
        else if (!S_ISCHR(found.st_mode))
            identities.push_back("file " + std::to_string(found.st_dev) + " " + std::to_string(found.st_ino));
        for (const std::string& identity : identities) {
            const auto [other, first] = seen.emplace(identity, path);
            if (first) continue;
            const std::string also = other->second == path ? "" : " (it is " + display_output(other->second) + " too)";
            throw FileError(display_output(path),
                            "two outputs would be written to it" + also + "; name another file for one of them");
        }
    }
}

}  // namespace fastsvm

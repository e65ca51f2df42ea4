// Linux features that other systems lack or name differently. FASTSVM_PORTABLE builds as for other systems, for tests.
#pragma once
#if defined(__linux__) && !defined(FASTSVM_PORTABLE)
#define FASTSVM_LINUX 1
#include <sched.h>
#include <sys/xattr.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>

namespace fastsvm {

// Processors available to this process.
inline int usable_processors() {
#ifdef FASTSVM_LINUX
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Flag of open() for a descriptor without read and write access; 0 if there is none.
#ifdef FASTSVM_LINUX
constexpr int names_only = O_PATH;
#else
constexpr int names_only = 0;
#endif

// Enlarges a pipe, if possible, for fewer context switches.
inline void widen_pipe([[maybe_unused]] int file, [[maybe_unused]] int bytes) {
#ifdef FASTSVM_LINUX
    fcntl(file, F_SETPIPE_SZ, bytes);
#endif
}

// Reserves disk space. Returns 0, or posix_fallocate's error; ENOTSUP if unavailable.
inline int reserve([[maybe_unused]] int file, [[maybe_unused]] off_t bytes) {
#ifdef FASTSVM_LINUX
    return posix_fallocate(file, 0, bytes);
#else
    return ENOTSUP;
#endif
}

// Extended attributes, including access control lists; none where the call is missing. Returns false on failure.
inline bool extended_attributes([[maybe_unused]] int file, [[maybe_unused]] std::map<std::string, std::string>& out) {
#ifdef FASTSVM_LINUX
    const ssize_t needed = flistxattr(file, nullptr, 0);
    if (needed < 0) return errno == ENOSYS || errno == ENOTSUP;
    std::string list(static_cast<std::size_t>(needed), 0);
    const ssize_t size = needed ? flistxattr(file, &list[0], list.size()) : 0;
    if (size < 0) return false;
    for (ssize_t at = 0; at < size;) {
        const std::string name(&list[static_cast<std::size_t>(at)]);
        std::string value(1 << 16, 0);
        const ssize_t length = fgetxattr(file, name.c_str(), &value[0], value.size());
        if (length < 0) return false;
        value.resize(static_cast<std::size_t>(length));
        out[name] = value;
        at += static_cast<ssize_t>(name.size()) + 1;
    }
#endif
    return true;
}

}  // namespace fastsvm

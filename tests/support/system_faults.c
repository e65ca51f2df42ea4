/* Loaded before the C library (LD_PRELOAD): system calls fail as FAULTS lists, call=fault,..., for an output and its
   temporary file. FAULTS_LOG gets a line for each action on a file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char* fault_of(const char* call) {
    static char found[32];
    const char* at = getenv("FAULTS");
    const size_t length = strlen(call);
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, call, length) && at[length] == '=') {
            snprintf(found, sizeof found, "%.*s", (int)strcspn(at + length + 1, ","), at + length + 1);
            return found;
        }
    return "";
}

static int is(const char* call, const char* fault) { return !strcmp(fault_of(call), fault); }

static void die_if_wanted(const char* call) {
    if (is(call, "kill")) kill(getpid(), SIGKILL);
}

static void note(const char* event) {
    const char* const path = getenv("FAULTS_LOG");
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file < 0) return;
    if (dprintf(file, "%s\n", event) < 0) abort();
    close(file);
}

static int is_temporary(int file, char* name, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, name, size - 1);
    name[length < 0 ? 0 : length] = 0;
    return strstr(name, ".fastsvm-") != NULL;
}

static int fail(int error) {
    errno = error;
    return -1;
}

ssize_t write(int file, const void* data, size_t size) {
    static int calls = 0;
    char name[4096];
    if (*fault_of("write") && is_temporary(file, name, sizeof name)) {
        if (is("write", "short") && size > 3) size = 3;
        if (is("write", "ENOSPC") && calls) return fail(ENOSPC);
        if (is("write", "ENOSPC") || is("write", "kill")) size = (size + 1) / 2;
        if (++calls > 1) die_if_wanted("write");
    }
    return REAL(write)(file, data, size);
}

ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
    return is("pwrite", "EIO") ? fail(EIO) : REAL(pwrite)(file, data, size, at);
}

int rename(const char* from, const char* to) {
    die_if_wanted("rename");
    if (is("rename", "EBUSY")) return fail(EBUSY);
    const int file = open(from, O_WRONLY);
    note(file >= 0 && flock(file, LOCK_EX | LOCK_NB) ? "rename, locked" : "rename, free");
    close(file);
    return REAL(rename)(from, to);
}

int posix_fallocate(int file, off_t at, off_t size) {
    struct stat status;
    if (is("posix_fallocate", "EOPNOTSUPP")) return EOPNOTSUPP;
    if (!is("posix_fallocate", "ENOSPC")) return REAL(posix_fallocate)(file, at, size);
    /* The C library's own fallback may get this far. */
    if (fstat(file, &status) || (status.st_size < at + size && ftruncate(file, at + size))) abort();
    return ENOSPC;
}

int fsync(int file) {
    struct stat status;
    die_if_wanted("fsync");
    note(fstat(file, &status) == 0 && S_ISDIR(status.st_mode) ? "sync folder" : "sync file");
    return is("fsync", "EIO") ? fail(EIO) : REAL(fsync)(file);
}

int flock(int file, int operation) {
    static int calls = 0;
    char name[4096];
    if (is("flock", "ENOLCK")) return fail(ENOLCK);
    /* Another process takes a new file for one of a dead process, between its creation and its lock. */
    if (is("flock", "late") && is_temporary(file, name, sizeof name) && ++calls == 1 && unlink(name)) abort();
    return REAL(flock)(file, operation);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
    static int calls = 0;
    const int status = REAL(clock_gettime)(clock, now);
    if (clock == CLOCK_MONOTONIC && is("clock", "fast")) now->tv_sec += 2 * ++calls;
    if (clock == CLOCK_MONOTONIC && is("clock", "still")) now->tv_sec = now->tv_nsec = 0;
    return status;
}

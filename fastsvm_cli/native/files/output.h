// Where results are written: whole or not at all.
#pragma once
#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fastsvm {

// A file to write. A regular file is written under a temporary name beside it and takes its place in finish(), so that
// a failed run leaves the previous file as it was; symbolic links are followed; mode, owner and group are kept.
// Devices, FIFOs and standard output ("-", /dev/stdout) are written directly.
//
// Where a rename would make another file of it, the finished content is copied into the previous file: another user's,
// one with further names (hard links) or with access control lists, a mount point. Where the folder cannot be written,
// the file is written directly, as svm-predict does: a failed run then leaves what it has written.
class Output {
public:
    // interrupted: called when a signal came while a FIFO's reader, or room in a pipe, was waited for; what it throws
    // ends the waiting. Throws FileFault, as all of these do; write throws ReaderGone, too.
    explicit Output(const std::string& path, std::function<void()> interrupted = nullptr);
    ~Output();  // without finish(): the previous file stays
    Output(const Output&) = delete;

    void write(const char* data, std::size_t size);
    void finish();
    // Removes the temporary file, if there is one: for a process that is told to stop.
    void abandon();

private:
    int open_output();
    int open_direct() const;
    int create_temporary(mode_t mode);
    void empty();
    bool rename_over();
    void copy_over();
    void forget_temporary();
    void close_all();
    [[noreturn]] void fail(int error) const;

    const std::string path_;
    const std::function<void()> interrupted_;
    const std::chrono::steady_clock::time_point start_;
    int file_ = -1;      // what is written: the temporary file, or the file itself
    int previous_ = -1;  // the previous file, open, where it is not replaced but written
    bool in_place_ = false;
    std::string target_, temporary_;
};

// Before any work: throws FileFault if `path` cannot be written, or is one of the files that are read, by whatever
// name. Devices may be both.
void check_output(const std::string& path, const std::vector<std::string>& inputs);

// The descriptor that `path` names, which writing to it writes to: 1 for "-". Nothing for the name of a file.
std::optional<int> standard_descriptor(const std::string& path);

}  // namespace fastsvm

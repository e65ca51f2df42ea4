// Output files that are written whole or not at all, also if the program is stopped, and checks before any work.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fastsvm {

// An output file. A regular file is written under a temporary name; finish() renames it, so that a failed run keeps the
// previous file. Symbolic links are followed; mode, owner and group are preserved. Devices, FIFOs and standard output
// are written directly.
//
// If a rename would change more than the content (another user's file, hard links, access control lists, a mount
// point), finish() copies the content into the previous file. In a folder that is not writable, the file is written
// directly, as by svm-predict, and a failed run leaves what it has written.
class Output {
public:
    // interrupted: called if a signal arrives while waiting for a pipe's reader; may throw. All members throw
    // FileError; write also throws ReaderGone.
    explicit Output(const std::string& path, std::function<void()> interrupted = nullptr);
    ~Output();  // without finish(): keeps the previous file
    Output(const Output&) = delete;

    void write(const char* data, std::size_t size);
    void finish();
    // Removes the temporary file of a process that must stop.
    void abandon();

private:
    int open_output();
    int create_temporary(mode_t mode);
    void empty();
    bool rename_over();
    void copy_over();
    void forget_temporary();
    void close_all();

    const std::string path_;
    const std::function<void()> interrupted_;
    const std::chrono::steady_clock::time_point start_;
    int file_ = -1;      // the temporary file, or the file itself
    int previous_ = -1;  // the previous file, open, if it is written to
    bool in_place_ = false;
    std::string target_, temporary_;
};

// While it lives, SIGINT (Ctrl-C), SIGTERM and SIGHUP remove the temporary files and end the process with 128 + the
// signal's number. Signals that the parent ignores stay ignored.
class StopSignals {
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;

private:
    struct sigaction before_[3];
};

// From now on, SIGINT also prints a line on standard error.
void announce_interruption();

// Throws FileError if `path` cannot be written, or is an input under any name. Devices may be both.
void check_output(const std::string& path, const std::vector<std::string>& inputs);

// Throws FileError if two outputs are one file or pipe under any name. Devices may repeat.
void check_apart(const std::vector<std::string>& paths);

// The descriptor that `path` names, such as 1 for "-"; none for a file.
std::optional<int> standard_descriptor(const std::string& path);

}  // namespace fastsvm

// Stop signals (SIGINT, SIGTERM, SIGHUP): they remove the temporary output files, then end the program.
#pragma once
#include <signal.h>

#include <string>

namespace fastsvm {

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

// Adds a file to remove. Ignored without StopSignals: a program that uses the library handles signals itself.
void remove_when_stopped(const std::string& path);
void keep_when_stopped(const std::string& path);

// Delays the calling thread's stop signals while it lives.
class StopHeld {
public:
    StopHeld();
    ~StopHeld();
    StopHeld(const StopHeld&) = delete;

private:
    sigset_t before_;
};

}  // namespace fastsvm

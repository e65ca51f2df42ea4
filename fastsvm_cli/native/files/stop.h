// Being told to stop: SIGINT (Ctrl-C), SIGTERM and SIGHUP end the process with 128 + the signal's number, after a
// temporary file that exists is removed. A signal that the parent ignores stays ignored.
#pragma once
#include <signal.h>

#include <string>

namespace fastsvm {

void heed_stop_signals();

// The file that is removed; "" for none. At most one at a time. Where heed_stop_signals() was not called, nothing is
// removed: a program that this is a part of has its own way.
void remove_when_stopped(const std::string& path);

// While it lives, being told to stop waits: for steps that must not be parted.
class StopHeld {
public:
    StopHeld();
    ~StopHeld();
    StopHeld(const StopHeld&) = delete;

private:
    sigset_t before_;
};

}  // namespace fastsvm

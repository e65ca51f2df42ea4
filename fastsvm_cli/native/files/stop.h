// SIGINT (Ctrl-C), SIGTERM and SIGHUP remove the temporary file and end the process with 128 + the signal's number. A
// signal that the parent ignores stays ignored.
#pragma once
#include <signal.h>

#include <string>

namespace fastsvm {

void heed_stop_signals();

// Sets the one file to remove; "" for none. Ignored without heed_stop_signals(): a program that uses the library
// handles signals itself.
void remove_when_stopped(const std::string& path);

// Delays stop signals while it lives, for steps that belong together.
class StopHeld {
public:
    StopHeld();
    ~StopHeld();
    StopHeld(const StopHeld&) = delete;

private:
    sigset_t before_;
};

}  // namespace fastsvm

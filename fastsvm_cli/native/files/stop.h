// SIGINT (Ctrl-C), SIGTERM and SIGHUP remove the temporary file and end the process with 128 + the signal's number.
// Signals that the parent ignores stay ignored.
#pragma once
#include <signal.h>

#include <string>

namespace fastsvm {

void heed_stop_signals();

// Sets the file to remove; "" for none. Ignored without heed_stop_signals(): a program that uses the library handles
// signals itself.
void remove_when_stopped(const std::string& path);

// Delays stop signals while it lives.
class StopHeld {
public:
    StopHeld();
    ~StopHeld();
    StopHeld(const StopHeld&) = delete;

private:
    sigset_t before_;
};

}  // namespace fastsvm

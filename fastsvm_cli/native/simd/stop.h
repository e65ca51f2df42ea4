// Checks during long work whether to stop, such as for Ctrl-C in Python.
#pragma once

namespace fastsvm {

// Sets the calling thread's check, or none if null. It is called now and then on this thread, between parts of its work
// (parallel.h). If it throws, the work ends on all threads.
void check_while_working(void (*check)());

// Calls the thread's check, unless it was called in the last 50 milliseconds.
void check_now_and_then();

// Disables checks on this thread during its lifetime.
class NoChecks {
public:
    NoChecks();
    ~NoChecks();
    NoChecks(const NoChecks&) = delete;

private:
    void (*const check_)();
};

}  // namespace fastsvm

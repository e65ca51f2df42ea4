#pragma once

namespace fastsvm {

// check: called now and then on the calling thread, between parts of its work (parallel.h). If it throws, work ends on
// all threads. May be null.
void check_while_working(void (*check)());

// Calls it unless called recently.
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

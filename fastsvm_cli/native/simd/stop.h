// Being told to stop in the midst of work.
#pragma once

namespace fastsvm {

// check: called now and then on the thread that calls this, where its work begins another part (parallel.h). An
// exception that it throws ends the work on all threads. Null: nothing is called.
void check_while_working(void (*check)());

// Calls it, unless it was called just now.
void check_now_and_then();

// Nothing is called on this thread while one of these exists.
class NoChecks {
public:
    NoChecks();
    ~NoChecks();
    NoChecks(const NoChecks&) = delete;

private:
    void (*const check_)();
};

}  // namespace fastsvm

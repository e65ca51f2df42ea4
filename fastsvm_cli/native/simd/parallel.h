// Threads: their number, loops whose parts they share, and checks during long work whether to stop, such as for Ctrl-C
// in Python.
#pragma once
#include <cstdint>

namespace fastsvm {

void set_threads(int threads);  // 0: all processors of the process
int get_threads();
// Sets the number for work that the calling thread starts, such as 1 if the callers already use all processors; 0: the
// global setting. Returns the previous value.
int set_threads_here(int threads);

// Parts of a range, which threads take one by one.
class Parts {
public:
    virtual ~Parts() = default;
    // The next part, [first, last), or false.
    virtual bool next(std::int64_t& first, std::int64_t& last) = 0;
};

// Refers to a caller's function, which must outlive the call; allocates nothing.
template <class... Arguments> class Callable {
public:
    template <class Function>
    Callable(const Function& function)
        : function_(&function),
          call_([](const void* f, Arguments... arguments) { (*static_cast<const Function*>(f))(arguments...); }) {}
    void operator()(Arguments... arguments) const { call_(function_, arguments...); }

private:
    const void* function_;
    void (*call_)(const void*, Arguments...);
};

// Calls worker(parts) once per thread, to take parts until none is left. Parts cover [0, n), `grain` long except the
// last. A single part runs on the calling thread. Rethrows the first exception.
void parallel_workers(std::int64_t n, std::int64_t grain, const Callable<Parts&>& worker);

// Calls body(first, last) for disjoint parts that cover [0, n), `grain` long except the last; with one thread, for one
// part. Otherwise as parallel_workers.
void parallel_for(std::int64_t n, std::int64_t grain, const Callable<std::int64_t, std::int64_t>& body);

// Sets the calling thread's check, or none if null. It is called now and then on this thread, between parts of its
// work. If it throws, the work ends on all threads.
void check_while_working(void (*check)());

// Calls the thread's check; the second, unless it was called in the last 50 milliseconds.
void check_now();
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

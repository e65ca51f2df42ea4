// Fork-join over a range, on as many threads as were set.
#pragma once
#include <cstdint>

namespace fastsvm {

void set_threads(int threads);  // 0: as many as the process may run on
int get_threads();
// For what the calling thread starts from here on; 0: as many as were set for all. A caller that has work for every
// thread runs each piece of it on one. Returns what was set before, for the caller to set again.
int set_threads_here(int threads);

// Parts of a range, handed out to threads one by one.
class Parts {
public:
    virtual ~Parts() = default;
    // The next part, [first, last); false when there is none left.
    virtual bool next(std::int64_t& first, std::int64_t& last) = 0;
};

// A function of the caller's, which outlives the call; nothing is allocated for it.
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

// Calls worker(parts) once on each thread, which takes parts until there are none: for what a worker needs room for,
// kept from part to part. Parts cover [0, n); each is `grain` long but the last. A single part is done on the calling
// thread. The first exception is rethrown.
void parallel_workers(std::int64_t n, std::int64_t grain, const Callable<Parts&>& worker);

// Calls body(first, last) on disjoint parts that cover [0, n), each a multiple of `grain` long but the last: on one
// thread, all of them at once. Otherwise as parallel_workers.
void parallel_for(std::int64_t n, std::int64_t grain, const Callable<std::int64_t, std::int64_t>& body);

}  // namespace fastsvm

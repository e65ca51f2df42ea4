// Fork-join over a range, on as many threads as were set.
#pragma once
#include <cstdint>
#include <functional>

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

// Calls worker(parts) once on each thread, which takes parts until there are none: for what a worker needs room for,
// kept from part to part. Parts cover [0, n); each is `grain` long but the last. A single part is done on the calling
// thread. The first exception is rethrown.
void parallel_workers(std::int64_t n, std::int64_t grain, const std::function<void(Parts&)>& worker);

// Calls body(first, last) on disjoint parts that cover [0, n), each a multiple of `grain` long but the last: on one
// thread, all of them at once. Otherwise as parallel_workers.
void parallel_for(std::int64_t n, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace fastsvm

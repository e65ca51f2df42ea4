// Fork-join over a range, on as many threads as were set.
#pragma once
#include <cstdint>
#include <functional>

namespace fastsvm {

void set_threads(int threads);  // 0: as many as the process may run on
int get_threads();

// Calls body(first, last) on disjoint parts that cover [0, n), each a multiple of `grain` long but the last. Parts are
// taken from a shared counter, so uneven ones balance. Runs on the caller alone when one part is enough. The first
// exception is rethrown.
void parallel_for(std::int64_t n, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace fastsvm

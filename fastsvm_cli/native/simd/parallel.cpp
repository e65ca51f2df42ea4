#include "simd/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace fastsvm {

namespace {
std::atomic<int> threads_set{0};

int processors() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}
}  // namespace

void set_threads(int threads) { threads_set = threads; }

int get_threads() {
    static const int available = processors();
    const int set = threads_set;
    return set > 0 ? set : available;
}

void parallel_for(std::int64_t n, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body) {
    if (n <= 0) return;
    const std::int64_t parts = (n + grain - 1) / grain;
    const int workers = static_cast<int>(std::min<std::int64_t>(get_threads(), parts));
    if (workers <= 1) return body(0, n);
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto work = [&] {
        try {
            for (std::int64_t part; (part = next++) < parts;) body(part * grain, std::min(n, (part + 1) * grain));
        } catch (...) {
            const std::lock_guard<std::mutex> guard(failure_lock);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> helpers;
    for (int i = 1; i < workers; ++i) {
        try {
            helpers.emplace_back(work);
        } catch (const std::system_error&) {
            break;  // no thread to be had: the ones there are do the work
        }
    }
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace fastsvm

#include "simd/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "system/platform.h"

namespace fastsvm {

namespace {
std::atomic<int> threads_set{0};
thread_local int threads_here = 0;

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_checks{50};
thread_local void (*check_here)() = nullptr;
thread_local Clock::time_point next_check;

}  // namespace

void check_while_working(void (*check)()) { check_here = check; }

void check_now() {
    if (check_here) check_here();
}

void check_now_and_then() {
    if (!check_here) return;
    const Clock::time_point now = Clock::now();
    if (now < next_check) return;
    next_check = now + between_checks;
    check_here();
}

NoChecks::NoChecks() : check_(std::exchange(check_here, nullptr)) {}
NoChecks::~NoChecks() { check_here = check_; }

void set_threads(int threads) { threads_set = threads; }

int set_threads_here(int threads) { return std::exchange(threads_here, threads); }

int get_threads() {
    static const int available = usable_processors();
    const int set = threads_here > 0 ? threads_here : threads_set.load();
    return set > 0 ? set : available;
}

bool Parts::next(std::int64_t& first, std::int64_t& last) {
    check_now_and_then();
    const std::int64_t part = next_++;
    if (part >= count_) return false;
    first = part * grain_;
    last = std::min(n_, first + grain_);
    return true;
}

void parallel_workers(std::int64_t n, std::int64_t grain, const Callable<Parts&>& worker) {
    if (n <= 0) return;
    Parts parts(n, grain);
    const int workers = static_cast<int>(std::min<std::int64_t>(get_threads(), parts.count()));
    if (workers <= 1) return worker(parts);
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto work = [&] {
        try {
            worker(parts);
        } catch (...) {
            const std::lock_guard<std::mutex> guard(failure_lock);
            if (!failure) failure = std::current_exception();
            parts.stop();
        }
    };
    std::vector<std::thread> helpers;
    helpers.reserve(static_cast<std::size_t>(workers));  // no thread is running yet if this throws
    for (int i = 1; i < workers; ++i) {
        try {
            helpers.emplace_back(work);
        } catch (const std::exception&) {
            break;  // the existing threads do the work
        }
    }
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

void parallel_for(std::int64_t n, std::int64_t grain, const Callable<std::int64_t, std::int64_t>& body) {
    if (n <= 0) return;
    check_now_and_then();
    if (n <= grain || get_threads() <= 1) return body(0, n);
    parallel_workers(n, grain, [&](Parts& parts) {
        for (std::int64_t first, last; parts.next(first, last);) body(first, last);
    });
}

}  // namespace fastsvm

// Threads: a loop on all of them, and a pool of objects that they lease.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

namespace fastsvm {

// Lends objects, each to one thread at a time, and stores at most `slots` of them for reuse. No locks: threads have
// slots of their own, in separate cache lines, while there are enough.
template <class T> class Pool {
public:
    Pool() = default;
    Pool(const Pool&) {}  // a copy starts empty
    Pool& operator=(const Pool&) { return *this; }
    ~Pool() {
        for (Slot& slot : *slots_) delete slot.pooled.load();
    }

    // Returns the object at its end, unless an exception has left the object's state unknown.
    class Lease {
    public:
        Lease(const Pool& pool, std::unique_ptr<T> object)
            : pool_(pool), object_(std::move(object)), failures_(std::uncaught_exceptions()) {}
        Lease(const Lease&) = delete;
        ~Lease() {
            if (std::uncaught_exceptions() == failures_) pool_.keep(std::move(object_));
        }
        T& operator*() const { return *object_; }
        T* operator->() const { return object_.get(); }

    private:
        const Pool& pool_;
        std::unique_ptr<T> object_;
        const int failures_;
    };

    // Takes a stored object, or a new one from make(), a std::unique_ptr<T>. Const: pooled objects change no answer.
    template <class Make> Lease lease(Make make) const {
        std::unique_ptr<T> object;
        visit([&](std::atomic<T*>& pooled) {
            if (pooled.load(std::memory_order_relaxed))
                object.reset(pooled.exchange(nullptr, std::memory_order_acquire));
            return object != nullptr;
        });
        if (!object) object = make();
        return Lease(*this, std::move(object));
    }
    Lease lease() const {
        return lease([] { return std::make_unique<T>(); });
    }

private:
    static constexpr std::size_t slots = 16;
    struct alignas(64) Slot {  // one cache line
        std::atomic<T*> pooled{nullptr};
    };
    // Calls attempt(slot) until it succeeds: first for the thread's own slot, which another may use meanwhile.
    template <class Attempt> void visit(Attempt attempt) const {
        const std::size_t thread = std::hash<std::thread::id>()(std::this_thread::get_id());
        // Fibonacci hashing: the highest log2(slots) = 4 bits.
        const std::size_t own = thread * std::size_t{0x9E3779B97F4A7C15} >> (8 * sizeof(std::size_t) - 4);
        for (std::size_t i = 0; i < slots; ++i)
            if (attempt((*slots_)[(own + i) % slots].pooled)) return;
    }
    void keep(std::unique_ptr<T> object) const {
        visit([&](std::atomic<T*>& pooled) {
            T* none = nullptr;
            const bool free = pooled.compare_exchange_strong(none, object.get(), std::memory_order_release);
            return free && object.release();
        });
    }
    const std::unique_ptr<std::array<Slot, slots>> slots_ = std::make_unique<std::array<Slot, slots>>();
};

// Threads: their number, loops whose parts they share, and checks during long work whether to stop, such as for Ctrl-C
// in Python.

void set_threads(int threads);  // 0: all processors of the process
int get_threads();
// Sets the number for work that the calling thread starts, such as 1 if the callers already use all processors; 0: the
// global setting. Returns the previous value.
int set_threads_here(int threads);

// Parts of a range, which threads take one by one: a shared counter balances uneven parts.
class Parts {
public:
    Parts(std::int64_t n, std::int64_t grain) : n_(n), grain_(grain), count_((n + grain - 1) / grain) {}
    std::int64_t count() const { return count_; }
    // The next part, [first, last), or false.
    bool next(std::int64_t& first, std::int64_t& last);
    void stop() { next_ = count_; }

private:
    const std::int64_t n_, grain_, count_;
    std::atomic<std::int64_t> next_{0};
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

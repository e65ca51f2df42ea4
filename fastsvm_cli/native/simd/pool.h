// A pool of objects that are expensive to make, such as scratch memory, which threads lease.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
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

}  // namespace fastsvm

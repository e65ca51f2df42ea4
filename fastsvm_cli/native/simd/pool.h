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

// Reusable expensive objects, at most `places`, each for one thread at a time. No locks: threads have places of their
// own, in separate cache lines, while there are enough.
template <class T> class Pool {
public:
    Pool() = default;
    Pool(const Pool&) {}  // a copy starts empty
    Pool& operator=(const Pool&) { return *this; }
    ~Pool() {
        for (Place& place : *places_) delete place.kept.load();
    }

    class Lease {
    public:
        Lease(const Pool& pool, std::unique_ptr<T> object)
            : pool_(pool), object_(std::move(object)), failures_(std::uncaught_exceptions()) {}
        Lease(const Lease&) = delete;
        ~Lease() {
            if (std::uncaught_exceptions() == failures_)
                pool_.keep(std::move(object_));  // state unknown after an exception
        }
        T& operator*() const { return *object_; }
        T* operator->() const { return object_.get(); }

    private:
        const Pool& pool_;
        std::unique_ptr<T> object_;
        const int failures_;
    };

    // make(): a new std::unique_ptr<T>. Const: pooled objects change no answer.
    template <class Make> Lease lease(Make make) const {
        std::unique_ptr<T> object;
        visit([&](std::atomic<T*>& kept) {
            if (kept.load(std::memory_order_relaxed)) object.reset(kept.exchange(nullptr, std::memory_order_acquire));
            return object != nullptr;
        });
        if (!object) object = make();
        return Lease(*this, std::move(object));
    }
    Lease lease() const {
        return lease([] { return std::make_unique<T>(); });
    }

private:
    static constexpr std::size_t places = 16;
    struct alignas(64) Place {  // one cache line
        std::atomic<T*> kept{nullptr};
    };
    // Calls attempt(place) until it succeeds: first for the thread's own place, which another may use meanwhile.
    template <class Attempt> void visit(Attempt attempt) const {
        const std::size_t thread = std::hash<std::thread::id>()(std::this_thread::get_id());
        const std::size_t own = thread * std::size_t{0x9E3779B97F4A7C15} >> (8 * sizeof(std::size_t) - 4);
        for (std::size_t i = 0; i < places; ++i)
            if (attempt((*places_)[(own + i) % places].kept)) return;
    }
    void keep(std::unique_ptr<T> object) const {
        visit([&](std::atomic<T*>& kept) {
            T* none = nullptr;
            const bool free = kept.compare_exchange_strong(none, object.get(), std::memory_order_release);
            return free && object.release();
        });
    }
    const std::unique_ptr<std::array<Place, places>> places_ = std::make_unique<std::array<Place, places>>();
};

}  // namespace fastsvm

// To preload: threads start, but the first memory that is asked for after each start is refused.
#include <dlfcn.h>
#include <pthread.h>
#include <cstdlib>
#include <new>
static thread_local bool none_left = false;
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* with, void* (*run)(void*), void* of) {
    static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    none_left = true;
    return real(thread, with, run, of);
}
void* operator new(std::size_t size) {
    void* const memory = none_left ? nullptr : std::malloc(size ? size : 1);
    none_left = false;
    if (!memory) throw std::bad_alloc();
    return memory;
}

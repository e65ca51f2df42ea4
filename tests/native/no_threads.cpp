// To preload: no thread starts, as at a limit of processes.
#include <cerrno>
extern "C" int pthread_create(void*, const void*, void* (*)(void*), void*) { return EAGAIN; }

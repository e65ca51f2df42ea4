#include "files/stop.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <climits>
#include <cstring>

namespace fastsvm {

namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
char temporary[PATH_MAX + 1];  // a signal handler must not allocate
volatile sig_atomic_t to_remove = 0;
bool heeded = false;  // false in a program that uses the library

void stop(int number) {
    if (to_remove) unlink(temporary);
    _exit(128 + number);
}

sigset_t stop_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int number : signals) sigaddset(&set, number);
    return set;
}

}  // namespace

void heed_stop_signals() {
    heeded = true;
    for (int number : signals) {
        struct sigaction before;
        if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        struct sigaction action{};
        action.sa_handler = stop;
        action.sa_mask = stop_signals();
        sigaction(number, &action, nullptr);
    }
}

void remove_when_stopped(const std::string& path) {
    if (!heeded) return;
    to_remove = 0;
    if (path.empty() || path.size() > PATH_MAX) return;
    std::memcpy(temporary, path.c_str(), path.size() + 1);
    to_remove = 1;
}

StopHeld::StopHeld() {
    const sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
}

StopHeld::~StopHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace fastsvm

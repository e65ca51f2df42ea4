#include "files/stop.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <iterator>

namespace fastsvm {

namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
char temporary[PATH_MAX + 1];  // a signal handler must not allocate
volatile sig_atomic_t to_remove = 0, announced = 0;
bool heeded = false;

void stop(int number) {
    if (to_remove) unlink(temporary);
    static constexpr char line[] = "Interrupted.\n";
    if (announced && number == SIGINT && write(2, line, sizeof line - 1) < 0) _exit(128 + number);  // it is closed
    _exit(128 + number);
}

sigset_t stop_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int number : signals) sigaddset(&set, number);
    return set;
}

}  // namespace

StopSignals::StopSignals() {
    heeded = true;
    for (std::size_t i = 0; i < std::size(signals); ++i) {
        struct sigaction action{};
        action.sa_handler = stop;
        action.sa_mask = stop_signals();
        if (sigaction(signals[i], nullptr, &before_[i]) == 0 && before_[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, nullptr);
    }
}

StopSignals::~StopSignals() {
    for (std::size_t i = 0; i < std::size(signals); ++i) sigaction(signals[i], &before_[i], nullptr);
    heeded = false;
}

void announce_interruption() { announced = 1; }

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

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
constexpr int most_files = 3;  // that a run writes
// A signal handler must not allocate.
char temporary[most_files][PATH_MAX + 1];
volatile sig_atomic_t to_remove[most_files];
volatile sig_atomic_t announced = 0;
bool heeded = false;

void stop(int number) {
    for (int i = 0; i < most_files; ++i)
        if (to_remove[i]) unlink(temporary[i]);
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
    if (!heeded || path.size() > PATH_MAX) return;
    for (int i = 0; i < most_files; ++i) {
        if (to_remove[i]) continue;
        std::memcpy(temporary[i], path.c_str(), path.size() + 1);
        to_remove[i] = 1;
        return;
    }
}

void keep_when_stopped(const std::string& path) {
    for (int i = 0; i < most_files; ++i)
        if (to_remove[i] && path == temporary[i]) to_remove[i] = 0;
}

StopHeld::StopHeld() {
    const sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
}

StopHeld::~StopHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace fastsvm

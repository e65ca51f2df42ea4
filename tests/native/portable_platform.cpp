// Prints a pipe's size before and after widening, and the number of processors.
#include <unistd.h>

#include <cstdio>

#include "system/platform.h"

int main() {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    const int before = fcntl(ends[0], F_GETPIPE_SZ);
    fastsvm::widen_pipe(ends[0], 1 << 20);
    std::printf("%d %d %d\n", before, fcntl(ends[0], F_GETPIPE_SZ), fastsvm::usable_processors());
}

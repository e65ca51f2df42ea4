#include "files/streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace fastsvm {

namespace {
bool closed[3];
}

void hold_closed_descriptors() {
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
        if (fcntl(descriptor, F_GETFD) >= 0) continue;
        closed[descriptor] = true;
#ifdef O_PATH  // a descriptor that names a file without opening it
        open("/dev/null", O_PATH);
#else
        open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
#endif
    }
}

bool was_closed(int descriptor) { return descriptor >= 0 && descriptor < 3 && closed[descriptor]; }

}  // namespace fastsvm

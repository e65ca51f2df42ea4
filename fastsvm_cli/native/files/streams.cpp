#include "files/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include "system/platform.h"

namespace fastsvm {

namespace {
bool closed[3];
}

void hold_closed_descriptors() {
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
        if (fcntl(descriptor, F_GETFD) >= 0) continue;
        closed[descriptor] = true;
        open("/dev/null", names_only ? names_only : descriptor == 0 ? O_WRONLY : O_RDONLY);
    }
}

bool was_closed(int descriptor) { return descriptor >= 0 && descriptor < 3 && closed[descriptor]; }

}  // namespace fastsvm

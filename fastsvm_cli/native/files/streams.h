// Standard descriptors that were closed when the process began.
#pragma once

namespace fastsvm {

// Call once, before opening files. Replaces closed descriptors 0, 1 and 2 by placeholders without read or write access,
// so that no file takes their numbers.
void hold_closed_descriptors();
// Whether the descriptor was closed then.
bool was_closed(int descriptor);

}  // namespace fastsvm

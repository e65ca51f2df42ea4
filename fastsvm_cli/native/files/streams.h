// Standard input, output and error, perhaps closed.
#pragma once

namespace fastsvm {

// Call once, before any file is opened. Replaces a closed descriptor 0, 1 or 2 by a placeholder without read or write
// access, so that no opened file takes its number.
void hold_closed_descriptors();
// Whether it was closed when the process began.
bool was_closed(int descriptor);

}  // namespace fastsvm

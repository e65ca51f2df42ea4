// Standard input, output and error as the process found them: perhaps closed.
#pragma once

namespace fastsvm {

// Called once, before any file is opened: a closed descriptor 0, 1 or 2 is taken by a placeholder that can be neither
// read nor written, so that no file that is opened becomes standard input, output or error by accident.
void hold_closed_descriptors();
// It was closed when the process began.
bool was_closed(int descriptor);

}  // namespace fastsvm

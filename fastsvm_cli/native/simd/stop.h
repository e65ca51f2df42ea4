// Being told to stop in the midst of work.
#pragma once

namespace fastsvm {

// check: called now and then on the thread that calls this, where its work begins another part (parallel.h). An
// exception that it throws ends the work on all threads. Null: nothing is called.
void check_while_working(void (*check)());

}  // namespace fastsvm

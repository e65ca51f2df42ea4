"""One file per command: its options, its words, its summary. Heavy imports stand inside the bodies."""

import os
import sys

# numpy's matrix library reads these when numpy is loaded, which no command does before this line. One thread for it, in
# every command: the sums of a matrix product come in another order with more, so that a seed would not give one file;
# threads that wait for each other make `reduce` five times slower on a machine that is busy, and faster on none that we
# measured; and where no thread can start, OpenBLAS ends the process. What is worth several threads runs in the native
# core, whose results do not depend on their number (--threads). A Python program that compiles has loaded numpy by
# itself: its environment is its own.
if "numpy" not in sys.modules:
    for _library in ("OPENBLAS", "MKL", "BLIS"):
        os.environ[f"{_library}_NUM_THREADS"] = "1"

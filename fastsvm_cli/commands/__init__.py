"""The commands: one file each, with options and summary. Heavy imports are inside the functions."""

import os
import sys

# numpy's matrix library reads these when numpy is loaded, which is after this line. It gets one thread, for three
# reasons. More threads change the order of sums, so that a seed would not determine the file. On a busy machine they
# make `reduce` five times slower, and on no measured machine faster. OpenBLAS ends the process if it cannot start a
# thread. Work worth several threads runs in the native core, whose results do not depend on --threads. A Python program
# that loaded numpy before keeps its environment.
if "numpy" not in sys.modules:
    for _library in ("OPENBLAS", "MKL", "BLIS"):
        os.environ[f"{_library}_NUM_THREADS"] = "1"

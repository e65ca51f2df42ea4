"""The commands, one file each. Functions import heavy modules."""

import os
import sys

# numpy's matrix library reads these when numpy is loaded, later. It gets one thread: more change the order of sums, so
# that a seed would not determine the file; they make `reduce` up to five times slower, on no measured machine faster;
# and OpenBLAS ends the process if it cannot start one. The native core's results do not depend on --threads. A Python
# program that loaded numpy before keeps its environment.
if "numpy" not in sys.modules:
    for _library in ("OPENBLAS", "MKL", "BLIS"):
        os.environ[f"{_library}_NUM_THREADS"] = "1"

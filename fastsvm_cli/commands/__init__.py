"""The commands. Their functions import heavy modules, so that the program starts fast."""

import os
import sys

# numpy's matrix library reads these when numpy is loaded. More threads than one change the order of sums, so that a
# seed would not determine the file, and make `reduce` up to five times slower (faster on no measured machine); OpenBLAS
# ends the process if it cannot start one. The core's results do not depend on --threads. A Python program that loaded
# numpy before keeps its environment.
if "numpy" not in sys.modules:
    for _library in ("OPENBLAS", "MKL", "BLIS"):
        os.environ[f"{_library}_NUM_THREADS"] = "1"

"""Differences between Linux and other systems (native/system/platform.h)."""

import os
import sys

TYPE_CHECKING = False  # typing's, which is not loaded this early
if TYPE_CHECKING:
    from typing import IO

LINUX = sys.platform == "linux"


def open_nothing(descriptor: int) -> int:
    """Return a new descriptor to replace 0, 1 or 2, unusable in that role."""
    if LINUX:
        return os.open(os.devnull, os.O_PATH)
    return os.open(os.devnull, os.O_RDONLY if descriptor else os.O_WRONLY)


def name_of(file: "IO[bytes]") -> str:
    """Return a path by which this process can reopen an open file."""
    return f"{'/proc/self/fd' if LINUX else '/dev/fd'}/{file.fileno()}"


def processor_name() -> str:
    """Return the processor's name."""
    if LINUX:
        try:
            with open("/proc/cpuinfo") as file:
                for line in file:
                    if line.startswith("model name"):
                        return line.partition(":")[2].strip()
        except OSError:
            pass
    import platform

    return platform.processor() or platform.machine()

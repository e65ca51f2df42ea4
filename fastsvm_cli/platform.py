"""What Linux has and other systems have not, or have by other names."""

import os
import sys

TYPE_CHECKING = False  # typing's, which is not loaded this early
if TYPE_CHECKING:
    from typing import IO

LINUX = sys.platform == "linux"


def usable_processors() -> int:
    """How many processors this process may run on."""
    return len(os.sched_getaffinity(0)) if LINUX else os.cpu_count() or 1


def open_nothing(descriptor: int) -> int:
    """A new descriptor, to take the place of standard input, output or error (0, 1 or 2), that can be neither read nor
    written; on other systems than Linux, one that cannot be used as its place is. Raises OSError."""
    if LINUX:
        return os.open(os.devnull, os.O_PATH)
    return os.open(os.devnull, os.O_RDONLY if descriptor else os.O_WRONLY)


def widen_pipe(file: int) -> None:
    """Let a pipe hold a megabyte instead of 64 KB: fewer switches between the writer and us. A wish, not a need."""
    if LINUX:
        import fcntl

        try:
            fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, 1 << 20)
        except OSError:
            pass


def name_of(file: "IO[bytes]") -> str:
    """A path by which this process can open an open file once more."""
    return f"{'/proc/self/fd' if LINUX else '/dev/fd'}/{file.fileno()}"


def processor_name() -> str:
    """Name of the processor, as the system says it."""
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

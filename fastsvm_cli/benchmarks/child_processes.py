"""Other processes: they do not outlive this one when it is told to stop."""

import subprocess
from collections.abc import Sequence

from fastsvm_cli.interruption import held


def run(words: Sequence[str], timeout: "float | None" = None, environment: "dict | None" = None) -> "tuple[int, str]":
    """Run a command with nothing to read and nowhere to print: (its exit code, what it said on standard error).
    Raises subprocess.TimeoutExpired, the process killed, and OSError."""
    process = None
    try:
        with held():  # else it could begin and be known to nobody
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
            )
        said = process.communicate(timeout=timeout)[1]
    except BaseException:
        if process is not None:
            process.kill()
            process.communicate()
        raise
    return process.returncode, said.decode("utf-8", "replace")

"""Run and time child processes."""

import os
import select
import subprocess
from collections.abc import Callable, Sequence
from time import monotonic

from fastsvm_cli.system.interruption import held

_TICK = 0.5  # seconds between calls of on_wait


def run(
    words: Sequence[str],
    timeout: "float | None" = None,
    environment: "dict | None" = None,
    on_wait: "Callable[[], None] | None" = None,
) -> "tuple[int, str]":
    """Run a process, and return its exit code and standard error.

    The process ends with this one on a signal. timeout: in seconds; None for no limit. environment: None for this
    process's. on_wait: called every half second. Raises OSError if the process cannot start, and
    subprocess.TimeoutExpired after killing it.
    """
    process = None
    try:
        with held():  # no signal between start and assignment
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
            )
        printed = _heard(process, timeout, on_wait)
    except BaseException:
        if process is not None:
            process.kill()
            process.wait()
        raise
    return process.returncode, printed.decode("utf-8", "replace")


def _heard(process: "subprocess.Popen", timeout: "float | None", on_wait: "Callable[[], None] | None") -> bytes:
    assert process.stderr is not None
    end = None if timeout is None else monotonic() + timeout
    buffers = []
    with process.stderr as stream:
        while True:
            left = None if end is None else end - monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired(process.args, timeout or 0.0)
            patience = left if on_wait is None else _TICK if left is None else min(left, _TICK)
            if not select.select([stream], [], [], patience)[0]:
                if on_wait is not None:
                    on_wait()
                continue
            buffer = os.read(stream.fileno(), 1 << 16)
            if not buffer:
                break
            buffers.append(buffer)
    process.wait(None if end is None else max(0.0, end - monotonic()))
    return b"".join(buffers)

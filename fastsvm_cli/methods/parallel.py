"""Work on parts of arrays, on as many threads as were set: numpy lets others run while it computes."""

import threading
from collections.abc import Callable

import numpy as np

from fastsvm_cli import _native


def over_blocks(n: int, size: int, body: "Callable[[slice], None]") -> None:
    """Call body(rows) for 0 to n in slices of `size`. What it writes must be its slice's own, and no number of it a sum
    over others: the result is the same whatever the number of threads. Its first exception is raised."""
    starts, lock = iter(range(0, n, size)), threading.Lock()
    failures: list[BaseException] = []

    @np.errstate(all="ignore")  # what overflows is the caller's to see; a thread begins with numpy's own settings
    def work() -> None:
        while not failures:
            with lock:
                first = next(starts, None)
            if first is None:
                return
            try:
                body(slice(first, min(n, first + size)))
            except BaseException as fault:
                failures.append(fault)

    helpers = []
    for _ in range(min(_native.get_threads(), -(-n // size)) - 1):
        helper = threading.Thread(target=work, daemon=True)
        try:
            helper.start()
        except RuntimeError:  # no thread to be had: the ones there are do the work
            break
        helpers.append(helper)
    try:
        work()
        for helper in helpers:
            helper.join()
    except BaseException as fault:  # Ctrl-C between two blocks, or while the helpers end: they begin no other
        failures.append(fault)
        for helper in helpers:
            helper.join()
    if failures:
        raise failures[0]

"""Loops over blocks on all threads."""

import threading
from collections.abc import Callable

import numpy as np

from fastsvm_cli import _native


def over_blocks(n: int, size: int, body: "Callable[[slice], None]") -> None:
    """Call body(rows) for 0 to n in slices of `size`, and raise the exception of the first slice that fails.

    A call must write only its slice and sum over no others: results then do not depend on threads.
    """
    starts, lock = iter(range(0, n, size)), threading.Lock()
    failures: list[tuple[int, BaseException]] = []

    @np.errstate(all="ignore")  # the caller handles overflow; threads start with numpy's defaults
    def work() -> None:
        while not failures:
            with lock:
                first = next(starts, None)
            if first is None:
                return
            try:
                body(slice(first, min(n, first + size)))
            except BaseException as error:
                failures.append((first if isinstance(error, Exception) else -1, error))  # Ctrl-C first

    helpers = []
    for _ in range(min(_native.get_threads(), -(-n // size)) - 1):
        helper = threading.Thread(target=work, daemon=True)
        try:
            helper.start()
        except RuntimeError:  # no more threads: the existing ones do the work
            break
        helpers.append(helper)
    try:
        work()
        for helper in helpers:
            helper.join()
    except BaseException as error:  # also Ctrl-C: helpers finish their block
        failures.append((-1, error))
        for helper in helpers:
            helper.join()
    if failures:
        raise min(failures, key=lambda each: each[0])[1]

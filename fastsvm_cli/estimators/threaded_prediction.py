"""Rows in blocks, on several threads."""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from fastsvm_cli.estimators.rows import Rows
from fastsvm_cli.methods.parallel import over_blocks, threads_here
from fastsvm_cli.text.read_rows import MOST_VALUES

#: Approximate numbers in a block: a few megabytes.
MOST_ENTRIES = 1 << 20
#: Minimum rows of a block, if memory allows: evaluation needs many at a time.
LEAST_ROWS = 256
#: Time per block: hides the overhead, yet threads end together and Ctrl-C acts soon.
BLOCK_SECONDS = 0.05
MOST_BLOCKS = 1 << 10
#: Minimum work for a second thread, which takes 0.1 ms to start.
ALONE_SECONDS = 0.002


def in_blocks(
    rows: Rows, values: int, threads: "int | None", answer: "Callable[[int, int], np.ndarray]"
) -> "np.ndarray":
    """Answer rows in blocks, on several threads, and return all blocks' results, (rows, ...).

    values: numbers held per row, at least 1. threads: None: the calling thread's setting; 0: the process's. answer:
    returns the result of rows first, ..., last - 1, on any thread.
    """
    if rows.rows == 1:
        return answer(0, 1)
    most = max(1, min(int(MOST_ENTRIES / max(rows.entries, 1)), MOST_VALUES // values))
    with threads_here(threads):
        if rows.rows <= min(most, LEAST_ROWS):
            return answer(0, rows.rows)
        return _many(rows.rows, most, answer)


def _many(rows: int, most: int, answer: "Callable[[int, int], np.ndarray]") -> np.ndarray:
    start, size = perf_counter(), min(most, LEAST_ROWS)
    found = answer(0, size)
    seconds, rest, done = perf_counter() - start, rows - size, size
    out = np.empty((rows, *found.shape[1:]), dtype=found.dtype)
    out[:done] = found
    if rest <= most and rest * seconds < size * ALONE_SECONDS:
        size = rest
    else:  # the first rows may include one-time initialisation
        size = min(most, max(LEAST_ROWS, int(size * BLOCK_SECONDS / max(seconds, 1e-9)), rest // MOST_BLOCKS))
    if rest <= size:
        out[done:] = answer(done, rows)
        return out

    def some(block: slice) -> None:
        with threads_here(1):
            first, last = done + block.start, done + block.stop
            out[first:last] = answer(first, last)

    over_blocks(rest, size, some)
    return out

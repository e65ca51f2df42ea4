"""Multithreaded prediction of rows in blocks."""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.estimators.rows import Rows
from fastsvm_cli.methods.parallel import over_blocks, threads_here
from fastsvm_cli.prediction.answers import Answer, Answerer, Request
from fastsvm_cli.text.data import MOST_VALUES

#: Approximate numbers in a block: a few megabytes.
MOST_ENTRIES = 1 << 18
#: Minimum rows of a block, if memory allows: evaluation needs many at a time.
LEAST_ROWS = 256
#: Time per block: hides the overhead, yet threads end together and Ctrl-C acts soon.
BLOCK_SECONDS = 0.02
MOST_BLOCKS = 1 << 10
#: Minimum work for a second thread, which takes 0.1 ms to start.
ALONE_SECONDS = 0.002


class Station:
    """Thread-safe pool of Answerers for one request. chunk: makes the chunk of rows first, ..., last - 1. values:
    numbers held per row."""

    def __init__(self, request: Request, chunk: "Callable[[Rows, int, int], _native.Chunk]", values: int):
        self._request, self._chunk, self._values = request, chunk, max(values, 1)
        self._free: list[Answerer] = []

    def run(
        self, rows: Rows, threads: "int | None", result: "Callable[[Answer, Answerer], np.ndarray]"
    ) -> "np.ndarray":
        """Return all blocks' results, (rows, ...). result: makes one block's, in new memory. threads: None: the calling
        thread's setting; 0: the process's. Raise ValueError for a row that cannot be evaluated."""
        most = max(1, min(int(MOST_ENTRIES / max(rows.entries, 1)), MOST_VALUES // self._values))
        with threads_here(threads):
            if rows.rows <= min(most, LEAST_ROWS):
                return self._answer(rows, 0, rows.rows, result)
            return self._many(rows, most, result)

    def _answer(
        self, rows: Rows, first: int, last: int, result: "Callable[[Answer, Answerer], np.ndarray]"
    ) -> np.ndarray:
        chunk = self._chunk(rows, first, last)
        try:
            answerer = self._free.pop()
        except IndexError:
            answerer = Answerer(self._request)
        answer = answerer.predictions(chunk)
        if answer.fault is not None:
            row, why = answer.fault
            raise ValueError(f"row {first + row - chunk.first_line}: {why}")
        found = result(answer, answerer)
        self._free.append(answerer)
        return found

    def _many(self, rows: Rows, most: int, result: "Callable[[Answer, Answerer], np.ndarray]") -> np.ndarray:
        start, size = perf_counter(), min(most, LEAST_ROWS)
        found = self._answer(rows, 0, size, result)
        seconds, rest = perf_counter() - start, rows.rows - size
        out = np.empty((rows.rows, *found.shape[1:]), dtype=found.dtype)
        out[:size] = found
        if rest <= most and rest * seconds < size * ALONE_SECONDS:
            out[size:] = self._answer(rows, size, rows.rows, result)
            return out

        # The first rows may include one-time initialisation.
        size = min(most, max(LEAST_ROWS, int(size * BLOCK_SECONDS / max(seconds, 1e-9)), rest // MOST_BLOCKS))
        done = len(found)
        if rest <= size:
            out[done:] = self._answer(rows, done, rows.rows, result)
            return out

        def some(block: slice) -> None:
            with threads_here(1):
                first, last = done + block.start, done + block.stop
                out[first:last] = self._answer(rows, first, last, result)

        over_blocks(rest, size, some)
        return out

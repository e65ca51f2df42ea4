"""Rows answered a block at a time, on several threads where there are many."""

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.estimators.rows import Rows
from fastsvm_cli.prediction.answers import Answer, Answerer, Request
from fastsvm_cli.prediction.side_by_side import SideBySide, size_for
from fastsvm_cli.text.data import MOST_VALUES

#: Numbers in a block, about: its chunk takes a few megabytes.
_MOST_ENTRIES = 1 << 18
#: Rows that a block has at least, if memory allows: the fast evaluation takes many at a time.
_LEAST_ROWS = 256
#: Of a block: long enough that handing it over does not count, short enough that threads end together, and that Ctrl-C
#: is soon heard.
_BLOCK_SECONDS = 0.02
#: What is done sooner than this is not worth a thread, which takes a tenth of a millisecond to start.
_ALONE_SECONDS = 0.002


class Station:
    """Where blocks of one request are answered. chunk: makes the chunk of rows first, ..., last - 1. Any number of
    threads may use it at a time: each has an Answerer, which is kept for the next one."""

    def __init__(self, request: Request, chunk: "Callable[[Rows, int, int], _native.Chunk]", values: int):
        """values: numbers of a row that are held for a block at a time."""
        self._request, self._chunk, self._values = request, chunk, max(values, 1)
        self._free: list[Answerer] = []

    def run(
        self, rows: Rows, threads: "int | None", result: "Callable[[Answer, Answerer], np.ndarray]"
    ) -> "np.ndarray":
        """(rows, ...): the results of all blocks. result: makes those of one, in memory of their own. threads: None or
        0: as many as the process may run on. Raises ValueError for a row that the model cannot evaluate, and what
        `chunk` raises."""
        if threads is None:
            return self._run(rows, result)
        before = _native.set_threads_here(threads)
        try:
            return self._run(rows, result)
        finally:
            _native.set_threads_here(before)

    def _run(self, rows: Rows, result: "Callable[[Answer, Answerer], np.ndarray]") -> np.ndarray:
        most = max(1, min(int(_MOST_ENTRIES / max(rows.entries, 1)), MOST_VALUES // self._values))
        if rows.rows <= min(most, _LEAST_ROWS):
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
        start, size = perf_counter(), min(most, _LEAST_ROWS)
        found = self._answer(rows, 0, size, result)
        seconds, rest = perf_counter() - start, rows.rows - size
        out = np.empty((rows.rows, *found.shape[1:]), dtype=found.dtype)
        out[:size] = found
        if rest <= most and rest * seconds < size * _ALONE_SECONDS:
            out[size:] = self._answer(rows, size, rows.rows, result)
            return out

        def jobs() -> "Iterator[_Block]":
            first = size
            while first < rows.rows:
                last = min(first + size, rows.rows)
                yield _Block(first, last)
                first = last

        def work(block: _Block) -> None:
            start = perf_counter()
            out[block.first : block.last] = self._answer(rows, block.first, block.last, result)
            block.seconds = perf_counter() - start

        with SideBySide(lambda: work, _native.get_threads()) as crew:
            for block in crew.run(jobs(), lambda: True):
                done = block.last - block.first
                size = size_for(_BLOCK_SECONDS, done, block.seconds, min(most, _LEAST_ROWS), most)
        return out


class _Block:
    def __init__(self, first: int, last: int):
        self.first, self.last, self.seconds = first, last, 0.0

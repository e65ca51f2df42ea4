"""Prediction of rows, in order (native/engine/run.h), its threads, and scores in svm-predict's numbers."""

from collections.abc import Callable
from math import isfinite
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli._native import Answer as Answer
from fastsvm_cli._native import Header
from fastsvm_cli._native import RunCounts as RunCounts
from fastsvm_cli.models import Model
from fastsvm_cli.text.files import Content, Output


class threads_here:
    """Context in which the core uses `count` threads for the calling one.

    count: 0: the process's setting; None: as before. A class, as it takes a third of a generator's time.
    """

    def __init__(self, count: "int | None"):
        self._count = count

    def __enter__(self) -> None:
        self._before = 0 if self._count is None else _native.set_threads_here(self._count)

    def __exit__(self, *_: object) -> None:
        if self._count is not None:
            _native.set_threads_here(self._before)


class Fallback(_native.Fallback):
    """The exact model of a certified one, for undecided rows.

    load: reads it, or a reduced set's plain(), when first needed, on any thread. tolerance: a regression value of
    larger radius is replaced.
    """

    def __init__(self, load: Callable[[], Model], tolerance: float = 0.0):
        super().__init__(lambda: load().native, tolerance)


class Predictor(_native.Predictor):
    """A model with its options (native/engine/answers.h), of _native.Predictor. Thread-safe."""

    def __init__(self, model: Model, *, exact: "Fallback | None" = None, **options: Any):
        self.model, self.exact = model, exact
        super().__init__(model.native, exact=exact, **options)


def answer_file(
    prediction: _native.Prediction,
    path: str,
    write: "Callable[[bytes], object]",
    open_rows: "Output | None" = None,
    outside_rows: "Output | None" = None,
    *,
    on_read: "Callable[[int], None] | None" = None,
    on_chunk: "Callable[[], None] | None" = None,
    head: bool = True,
) -> None:
    """Answer the rows of a file, from the prediction's position on.

    open_rows, outside_rows: receive open rows, or those outside the bound of eq. (3.11), as LIBSVM data with line
    numbers. on_read: called with the bytes read so far. on_chunk: called after a chunk's lines. head: whether to write
    the lines before the first row.
    """
    write_beside = [None if each is None else each.write for each in (open_rows, outside_rows)]
    with Content(path, prediction.position.offset, on_read) as content:
        prediction.answer(content, write, *write_beside, on_chunk, head)


def summary_values(header: Header, score: "_native.Score") -> dict:
    """Return the scores; an undefined one is None."""
    names = ("mean_squared_error", "squared_correlation") if header.regression else ("accuracy",)
    values = dict(zip(names, _native.scores(header, score)))
    if not header.regression:
        values["correct"] = score.correct
    return {key: value if isfinite(value) else None for key, value in values.items()}


def still_hold(then: "dict[str, Any]", on_bad_row: str, max_line: int) -> bool:
    """Return whether lines written under `then` (on_bad_row, max_line, count bad_rows) hold under these settings."""
    same = (then["on_bad_row"], then["max_line"]) == (on_bad_row, max_line)
    return same or (not then["bad_rows"] and then["max_line"] <= max_line)

"""Rows -> answers -> lines, in order, for every model, with the exact model to fall back on. The core does it
(native/engine/run.h)."""

from collections.abc import Callable, Iterable
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.models.base import Model
from fastsvm_cli.prediction.answers import Fallback, Request
from fastsvm_cli.text.bad_rows import BadRows
from fastsvm_cli.text.line_blocks import LineBlocks


class Tally(_native.Tally):
    """Counts over the rows of a run.

    rows: all that were answered. outside: those outside the bound of Claesen et al., eq. (3.11). evaluated: those that
    the radii did not settle, so that the exact model evaluated them. reference_rows: those that only LIBSVM's own order
    of operations decides. grid_rows, single_rows, double_rows: those that an exact model's cheaper evaluations settled:
    from whole numbers, in single and in double precision. kernel_evaluations: all of them together, of an ordered
    model. undecided: rows whose answer the radii leave open, of a model that stops early (--steps) or where such rows
    are written elsewhere (--open-rows). unknown_labels: rows whose own label the model never answers, zero_labels:
    those of them whose label is 0. score: svm-predict's sums, or None for unlabelled data."""

    COUNTS = (
        *("rows", "outside", "evaluated", "reference_rows", "kernel_evaluations", "undecided"),
        *("grid_rows", "single_rows", "double_rows", "unknown_labels", "zero_labels"),
    )
    #: The fields of `score`.
    SUMS = ("correct", "total", "error", "sump", "sumt", "sumpp", "sumtt", "sumpt")

    def values(self) -> "dict[str, int | float]":
        """Its counts and sums: what a checkpoint, or a receipt, holds."""
        counts = {name: getattr(self, name) for name in self.COUNTS}
        return counts if self.score is None else {**counts, **{name: getattr(self.score, name) for name in self.SUMS}}

    def add_values(self, values: "dict[str, int | float]") -> None:
        """Count the rows of another Tally, by its `values`; bit for bit the same one, if no row has been counted.
        Raises KeyError where one is not there."""
        for name in self.values():
            owner = self.score if name in self.SUMS else self
            setattr(owner, name, getattr(owner, name) + values[name])


def predict(
    model: Model,
    rows: "Iterable[_native.Chunk] | LineBlocks",
    write: Callable[[bytes], None],
    *,
    path: str,
    labelled: bool = True,
    exact: "Fallback | None" = None,
    bad_rows: "BadRows | None" = None,
    tally: "Tally | None" = None,
    head: bool = True,
    on_chunk: "Callable[[Tally], None] | None" = None,
    write_open: "Callable[[bytes], None] | None" = None,
    write_outside: "Callable[[bytes], None] | None" = None,
    **asked: Any,
) -> Tally:
    """Predict every row and write its line, in order; memory does not grow with the input.

    rows: in chunks, each done on all threads, one after the other; or in the blocks of a file, a thread each.
    path: the data's, for messages. exact: evaluate the rows that a certified model leaves open, so that every answer is
    svm-predict's. bad_rows: what becomes of rows that cannot be read or evaluated, and those of the blocks; without it
    they raise DataFormatError. tally: of the rows before these, which is added to. head: whether to write what stands
    before the first row. on_chunk: called when a chunk's lines are written. write_open: given the rows whose answer a
    certified model's radii leave open, as LIBSVM data with line numbers. write_outside: likewise the rows outside the
    bound of eq. (3.11). asked: probability, values, evaluations, tolerance and open_tolerance of _native.Request.
    """
    request = Request(
        model,
        exact=exact,
        open_rows=write_open is not None,
        outside_rows=write_outside is not None,
        around=bad_rows is not None,
        **asked,
    )
    counted = tally or Tally(labelled)
    run = _native.Run(
        request.native,
        counted,
        bad_rows,
        write,
        write_open,
        write_outside,
        before_writing=None if exact is None else lambda: exact.check(False),
        after_chunk=None if on_chunk is None else lambda: on_chunk(counted),
    )
    try:
        if head:
            run.begin()
        if isinstance(rows, LineBlocks):
            run.answer_blocks(rows.native)
        else:
            for chunk in rows:
                run.answer_chunk(chunk)
    except _native.DataFault as fault:
        raise DataFormatError(path, *fault.args) from None
    if exact is not None:
        exact.check(True)
    return counted

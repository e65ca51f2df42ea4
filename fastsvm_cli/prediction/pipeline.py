"""Prediction of rows, in order (native/engine/run.h)."""

from collections.abc import Callable, Iterable
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.models.base import Model
from fastsvm_cli.prediction.answers import Audit, Fallback, Predictor
from fastsvm_cli.text.line_blocks import BadRows, LineBlocks


class RunCounts(_native.RunCounts):
    """Counts over the rows of a run.

    outside: rows outside the bound of Claesen et al., eq. (3.11).
    evaluated: undecided rows by the radii, which the exact model evaluated.
    reference_rows: rows that only LIBSVM's order of operations decides.
    undecided: open rows, with --steps or --open-rows.
    audited: rows of an audit's sample; audit_differing: of these, with another label than the exact model's.
    unknown_labels: rows whose label the model never predicts; zero_labels: of these, label 0.
    rows_beyond, rows_with_zero: rows with features beyond the model's, or with a feature 0.
    largest_feature: of all rows.
    score: svm-predict's sums; None for unlabelled data.
    """

    COUNTS = (
        *("rows", "outside", "evaluated", "reference_rows", "kernel_evaluations", "undecided"),
        *("audited", "audit_differing"),
        *("grid_rows", "single_rows", "double_rows", "unknown_labels", "zero_labels"),
        *("rows_beyond", "rows_with_zero", "largest_feature"),
    )
    #: Fields of `score`.
    SUMS = ("correct", "total", "error", "sump", "sumt", "sumpp", "sumtt", "sumpt")

    def values(self) -> "dict[str, int | float]":
        """Return all counts by name."""
        counts = {name: getattr(self, name) for name in self.COUNTS}
        return counts if self.score is None else {**counts, **{name: getattr(self.score, name) for name in self.SUMS}}

    def add_values(self, values: "dict[str, int | float]") -> None:
        """Add another RunCounts's `values`. An empty RunCounts becomes equal to it, bit for bit. Raises KeyError."""
        for name in self.values():
            owner = self.score if name in self.SUMS else self
            before, more = getattr(owner, name), values[name]
            setattr(owner, name, max(before, more) if name == "largest_feature" else before + more)


def predict(
    model: Model,
    rows: "Iterable[_native.Chunk] | LineBlocks",
    write: Callable[[bytes], None],
    *,
    path: str,
    labelled: bool = True,
    exact: "Fallback | None" = None,
    audit: "Audit | None" = None,
    bad_rows: "BadRows | None" = None,
    run_counts: "RunCounts | None" = None,
    head: bool = True,
    on_chunk: "Callable[[RunCounts], None] | None" = None,
    write_open: "Callable[[bytes], None] | None" = None,
    write_outside: "Callable[[bytes], None] | None" = None,
    **how: Any,
) -> RunCounts:
    """Predict every row and write its line, in order, in constant memory.

    Raises DataFormatError for bad rows without `bad_rows`.

    rows: chunks, each on all threads; or blocks of a file, each on one.
    exact: for open rows of a certified model.
    audit: a sample to count; without `exact`.
    run_counts: of earlier rows, to add to.
    head: whether to write the lines before the first row.
    on_chunk: called after a chunk's lines are written.
    write_open, write_outside: receive open rows, or those outside the bound of eq. (3.11), as LIBSVM data with line
    numbers.
    how: options of _native.Predictor.
    """
    predictor = Predictor(
        model,
        exact=exact,
        audit=audit,
        open_rows=write_open is not None,
        outside_rows=write_outside is not None,
        around=bad_rows is not None,
        largest_feature=model.max_index,
        **how,
    )
    counted, exact_user = run_counts or RunCounts(labelled), exact or audit
    run = _native.Run(
        predictor,
        counted,
        bad_rows,
        write,
        write_open,
        write_outside,
        before_writing=None if exact_user is None else lambda: exact_user.check(False),
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
    except _native.RunError as error:
        raise DataFormatError(path, *error.args) from None
    if exact_user is not None:
        exact_user.check(True)
    return counted

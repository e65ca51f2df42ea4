"""Chunks -> decision values -> predictions -> lines, for every model."""

from typing import Callable, Iterable

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError, RowError
from fastsvm_cli.models.base import Model


class Tally:
    """What was seen on the way. rows; outside: rows outside the bound of eq. (3.11); reference_rows: rows whose side of zero only
    LIBSVM's own order of operations decides; score: svm-predict's sums, or None for unlabelled data."""

    def __init__(self, labelled: bool):
        self.rows = self.outside = self.reference_rows = 0
        self.score = _native.Score() if labelled else None


def predict(
    model: Model,
    chunks: Iterable[_native.Chunk],
    write: Callable[[bytes], None],
    *,
    path: str,
    probability: bool = False,
    values: bool = False,
    labelled: bool = True,
) -> Tally:
    """Predict every row and write its line, chunk by chunk, in order; memory does not grow with the input.

    path: the data's, for messages. probability: as `-b 1`. values: append decision values. Raises DataFormatError.
    """
    header = model.header
    task, decisions, predictions = header.task(), _native.Decisions(model.pairs), _native.Predictions()
    doubtful, tally = _native.Decisions(model.pairs), Tally(labelled)
    if probability and not header.regression:
        names = " ".join(map(str, header.label)) if header.classification else None
        write(f"labels {names}\n".encode() if names is not None else b"label normal outlier\n")
    until = _thresholds(model) if probability and model.proves else None
    for chunk in chunks:
        try:
            model.decision_values(chunk, decisions, until)
        except RowError as fault:
            raise DataFormatError(path, chunk.first_line + fault.row, fault.why) from None
        _native.predict(task, decisions, probability, predictions)
        if model.proves and predictions.doubtful:
            rows = predictions.doubtful
            model.reference_values(chunk.select(rows), doubtful)
            decisions.put(rows, doubtful)
            _native.predict(task, decisions, probability, predictions)
            tally.reference_rows += len(rows)
        write(_native.format_lines(task, predictions, decisions if values else None))
        if tally.score is not None:
            tally.score.add(chunk, predictions)
        tally.rows += chunk.rows
        tally.outside += decisions.outside
        tally.reference_rows += decisions.reference_rows
    return tally


def _thresholds(model: Model) -> "list[tuple[float, float]] | None":
    """Where the answer of a model with one decision function jumps, besides 0, with a margin for the rounding of what comes after:
    the value of even odds, the marks of a density."""
    header = model.header
    if header.classification and header.pairs == 1 and header.probA[0] != 0:
        a, b = header.probA[0], header.probB[0]
        # 1 / (1 + e^t) and one minus it are both 1/2 to rounding for |t| < 1e-15; t = a f + b itself rounds by a few ulps of b.
        return [(-b / a, (1e-14 + 1e-15 * abs(b)) / abs(a))]
    return [(mark, 0.0) for mark in header.prob_density_marks] if header.svm_type == "one_class" else None

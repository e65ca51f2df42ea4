"""Chunks -> decision values -> predictions -> lines, for every model, with the exact model to fall back on."""

from typing import Callable, Iterable

from fastsvm_cli import _native
from fastsvm_cli.data import bounded
from fastsvm_cli.errors import DataFormatError, RowError
from fastsvm_cli.models.base import Model


class Tally:
    """What was seen on the way. rows; outside: rows outside the bound of eq. (3.11); evaluated: rows the radii did not settle, given to the
    exact model; reference_rows: rows that only LIBSVM's own order of operations decides; kernel_evaluations: of an ordered model; undecided: rows
    whose label its radii leave open, where it was told to stop early; score: svm-predict's sums, or None for unlabelled data."""

    def __init__(self, labelled: bool):
        self.rows = self.outside = self.evaluated = self.reference_rows = self.kernel_evaluations = self.undecided = 0
        self.score = _native.Score() if labelled else None


class Fallback:
    """The exact model behind a certified one. load: reads it, called when the first row needs it. tolerance: the radius a regression
    value may keep."""

    def __init__(self, load: Callable[[], Model], tolerance: float = 0.0):
        self._load, self.tolerance, self._model = load, tolerance, None

    @property
    def model(self) -> Model:
        if self._model is None:
            found = self._load()
            self._model = found.plain() if found.reduced else found  # a reduced set may be the exact model of another compiled one
        return self._model


def predict(
    model: Model,
    chunks: Iterable[_native.Chunk],
    write: Callable[[bytes], None],
    *,
    path: str,
    probability: bool = False,
    values: bool = False,
    labelled: bool = True,
    exact: "Fallback | None" = None,
    tolerance: "float | None" = None,
) -> Tally:
    """Predict every row and write its line, chunk by chunk, in order; memory does not grow with the input.

    path: the data's, for messages. probability: as `-b 1`. values: append decision values, and radii where the model has them.
    exact: evaluate the rows that a certified model leaves open, so that every answer is svm-predict's. tolerance: what a value of an
    ordered regression model may be off by, so that it can stop early. Raises DataFormatError.
    """
    # The exact model's probabilities, where those of a reduced set were fitted anew.
    header = exact.model.header if exact is not None and probability and model.reduced else model.header
    task, predictions = header.task(), _native.Predictions()
    with_radius = model.certified and (values or exact is not None or model.ordered)
    # Of more than two classes the coupled probabilities are the result of an iteration, no continuous function of the decision values: only svm-predict's
    # own numbers are sure to give its own probabilities and label, to the last digit.
    coupled = bool(probability and header.classification and header.nr_class > 2 and (model.proves or exact is not None))
    labels_only = model.labels_alone and exact is None and not (probability or values or with_radius)
    decisions = _native.Decisions(model.pairs, with_radius, labels_only)
    again, tally = _native.Decisions(model.pairs, with_radius), Tally(labelled)
    until = (_thresholds(header) if probability else []) if probability or values else None
    if tolerance is not None:
        until = tolerance
    stopped = model.ordered and not model.proves
    if probability and not header.regression:
        write(f"labels {' '.join(map(str, header.label))}\n".encode() if header.classification else b"label normal outlier\n")
    for chunk in chunks if labels_only else bounded(chunks, model.pairs):
        try:
            if coupled and exact is None:
                model.reference_values(chunk, decisions)
                decisions.reference_rows = chunk.rows
            else:
                model.decision_values(chunk, decisions, until if model.proves else None)
        except RowError as fault:
            raise DataFormatError(path, chunk.first_line + fault.row, fault.why) from None
        tally.outside += decisions.outside
        tally.reference_rows += decisions.reference_rows
        tally.kernel_evaluations += decisions.kernel_evaluations
        if stopped:
            tally.undecided += len(_native.unsettled(task, decisions))
        if exact is not None:
            rows = _native.unsettled(task, decisions, probability, exact.tolerance)
            if rows:
                part = chunk.select(rows)
                tally.evaluated += len(rows)
                open_still = list(range(len(rows)))
                if not coupled:
                    exact.model.decision_values(part, again, until)
                    decisions.put(rows, again)
                    # What the rounding of the fast evaluation leaves open in turn: LIBSVM's own order of operations.
                    open_still = [row for row in _native.unsettled(task, again, probability, exact.tolerance) if again.radius[row, 0] > 0]
                    tally.reference_rows += again.reference_rows
                tally.reference_rows += len(open_still)
                if open_still:
                    exact.model.reference_values(part.select(open_still), again)
                    decisions.put([rows[row] for row in open_still], again)
        _native.predict(task, decisions, probability, predictions)
        write(_native.format_lines(task, predictions, decisions if values else None, stopped))
        if tally.score is not None:
            tally.score.add(chunk, predictions)
        tally.rows += chunk.rows
    return tally


def _thresholds(header) -> "list[tuple[float, float]]":
    """Where the answer of a model with one decision function jumps, besides 0, with a margin for the rounding of what comes after:
    the value of even odds, the marks of a density."""
    if header.classification and header.pairs == 1 and header.probA[0] != 0:
        a, b = header.probA[0], header.probB[0]
        # 1 / (1 + e^t) and one minus it are both 1/2 to rounding for |t| < 1e-15; t = a f + b itself rounds by a few ulps of b.
        return [(-b / a, (1e-14 + 1e-15 * abs(b)) / abs(a))]
    return [(mark, 0.0) for mark in header.prob_density_marks] if header.svm_type == "one_class" else []

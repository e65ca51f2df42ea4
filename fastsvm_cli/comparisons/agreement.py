"""Compare the answers of two models on the same rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, isfinite, sqrt

from fastsvm_cli import _native
from fastsvm_cli.models.base import Model, Precision
from fastsvm_cli.text.read_rows import MOST_VALUES, smaller_chunks

PART_EVALUATIONS, LEAST_PART = 1 << 28, 256  # kernel evaluations between calls of on_progress; rows


class Comparison:
    """Agreement of a model with a reference on the same rows.

    different: number of labels that differ. score, reference_score: sums for svm-predict's summary.
    """

    def __init__(self, regression: bool):
        self.regression, self.rows, self.different = regression, 0, 0
        self._squares, self._first, self._sum, self._sum_squares = 0.0, 0.0, 0.0, 0.0
        self.score, self.reference_score = _native.Score(), _native.Score()

    @property
    def disagreement(self) -> float:
        """Share of rows whose label differs."""
        return self.different / self.rows if self.rows else 0.0

    @property
    def difference(self) -> float:
        """Root mean square difference of the values, for regression."""
        return sqrt(self._squares / self.rows) if self.rows else 0.0

    @property
    def spread(self) -> float:
        """Standard deviation of the reference's values."""
        if not self.rows:
            return 0.0
        mean = self._sum / self.rows
        return sqrt(max(0.0, self._sum_squares / self.rows - mean * mean))

    @property
    def share(self) -> float:
        """Share of labels that differ; regression: share_of_spread."""
        if not self.regression:
            return self.disagreement
        return share_of_spread(self.difference, self.spread, abs(self._first))

    def _add(self, one: "Sequence[float]", other: "Sequence[float]") -> None:
        self.different += sum(a != b for a, b in zip(one, other))
        if self.regression and len(other):
            if not self.rows:
                self._first = other[0]  # squares about a value lose fewer digits than about 0
            self._squares += sum((a - b) * (a - b) for a, b in zip(one, other))
            self._sum += sum(b - self._first for b in other)
            self._sum_squares += sum((b - self._first) * (b - self._first) for b in other)
        self.rows += len(other)


def share_of_spread(difference: float, spread: float, size: float) -> float:
    """Return a difference relative to the spread, or to a millionth of the values' size if larger."""
    if not isfinite(difference):
        return inf
    scale = max(spread, 1e-6 * size)
    return difference / scale if scale else inf if difference else 0.0


def answers(
    model: Model, chunks: "Iterable[_native.Chunk]", precision: Precision, with_radius: bool = False
) -> "Iterator[tuple[_native.Chunk, _native.Decisions, _native.Predictions]]":
    """Yield (chunk, decisions, predictions) of a model for each chunk; the last two objects are reused."""
    decisions, predictions = model.decisions(precision, with_radius), _native.Predictions()
    task = model.header.task()
    for chunk in chunks:
        model.decision_values(chunk, decisions, precision)
        _native.predict(task, decisions, False, predictions)
        yield chunk, decisions, predictions


def agreement(
    model: Model,
    reference: Model,
    chunks: "Iterable[_native.Chunk]",
    on_progress: "Callable[[float], None] | None" = None,
) -> Comparison:
    """Predict rows with both models and compare. Scores require labelled rows. on_progress: receives the share done."""
    chunks = list(chunks)
    total = max(1, sum(chunk.rows for chunk in chunks))
    values = max(model.pairs, reference.pairs)
    if on_progress:
        size = max(LEAST_PART, PART_EVALUATIONS // max(1, reference.header.total_sv))
        values = max(values, -(-MOST_VALUES // size))
    parts = list(smaller_chunks(chunks, values))
    out = Comparison(reference.header.regression)
    both = (answers(each, parts, Precision.labels()) for each in (model, reference))
    for (chunk, _, one), (_, _, other) in zip(*both):
        out._add(one.label, other.label)
        if chunk.leading_count == 1:
            out.score.add(chunk, one)
            out.reference_score.add(chunk, other)
        if on_progress:
            on_progress(out.rows / total)
    return out

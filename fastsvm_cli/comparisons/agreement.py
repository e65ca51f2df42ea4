"""Agreement of two models on the same rows, and their times on support vectors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, isfinite, sqrt
from time import thread_time

from fastsvm_cli import _native
from fastsvm_cli.comparisons.budget import bound
from fastsvm_cli.models import ExactModel, Model, Precision
from fastsvm_cli.text.read_rows import MOST_VALUES, smaller_chunks

PART_EVALUATIONS, LEAST_PART = 1 << 28, 256  # kernel evaluations between calls of on_progress; rows
#: Share of wrong answers worth a warning.
DOUBTFUL = 0.01
# Minimum number of support vectors to compare on, if there are so many.
LEAST_ROWS = 100
# Limit of rows times entries of all support vectors: about the time of reading the exact model.
WORK = 25_000_000
# Maximum number of rows of a timing, and limit of its products.
_ROWS = 1000
_TRIAL_WORK = 1e9
# Limits of a timing's runs and seconds.
_LEAST_RUNS, _MOST_RUNS, _LEAST_SECONDS = 3, 50, 0.1


class Comparison:
    """Agreement of a model with a reference on rows. different: labels; scores: sums for svm-predict's summary."""

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

    @property
    def upper(self) -> float:
        """Upper bound of the share, for random rows; regression: the share."""
        return self.share if self.regression else bound(self.different, self.rows)

    def line(self, where: str) -> str:
        """Say how far the models agree on rows `where`."""
        if not self.regression:
            return f"labels that differ on {where}: {self.different} of {self.rows} ({100 * self.disagreement:.3g} %)"
        of_spread = f"{100 * self.share:.3g} % of the spread of the values"
        return f"root mean square difference on {where}: {self.difference:.3g} ({of_spread})"

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
    """Return difference / spread, or over a millionth of the values' size if larger."""
    if not isfinite(difference):
        return inf
    scale = max(spread, 1e-6 * size)
    return difference / scale if scale else inf if difference else 0.0


def answers(
    model: Model, chunks: "Iterable[_native.Chunk]", precision: Precision, with_radius: bool = False
) -> "Iterator[tuple[_native.Chunk, _native.Decisions, _native.Predictions]]":
    """Yield (chunk, decisions, predictions) per chunk; the last two objects are reused."""
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
    """Predict rows, labelled ones for scores, with both models and compare."""
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


class Trial:
    """Gain over the exact model, one thread: share of its kernel evaluations, and ratio of times, on `rows` rows."""

    def __init__(self, rows: int, evaluations: float, speed_up: float):
        self.rows, self.evaluations, self.speed_up = rows, evaluations, speed_up


def trial(model: Model, source: ExactModel, data: "_native.Chunk | None" = None) -> "Trial | None":
    """Measure the gain on up to 1,000 evenly spread rows of `data`, else support vectors.

    Models whose rows stop early gain less on a classifier's support vectors, which are nearer to the border.
    """
    total = source.header.total_sv
    if not total or not model.pairs:
        return None
    few = max(1, int(_TRIAL_WORK / (getattr(model, "products", 0) or 1)))
    rows = spread(source.vectors if data is None else data, max(1, min(_ROWS, MOST_VALUES // model.pairs, few)))
    # Labels alone, as in `predict`.
    precision = Precision.within(1e-3) if model.header.regression else Precision.labels()
    out = model.decisions(precision)
    compiled = _seconds(model, rows, out, precision)
    evaluations = sum(out.evaluations) / (rows.rows * total)
    exact = _seconds(source, rows, source.decisions(Precision.labels()), Precision.labels())
    return Trial(rows.rows, evaluations, exact / compiled)


def questionable_gain(products: float, source: ExactModel) -> bool:
    """Return whether so many products per row might be slower than the exact model.

    A product takes as long as a kernel evaluation's, or a few times less.
    """
    vectors = source.vectors
    return 4 * products > len(vectors.indices) + vectors.rows * max(1, vectors.leading_count)


def gain_in_doubt(model: Model, source: ExactModel) -> "Trial | None":
    """Return a trial in which the model is slower than the exact one, or None."""
    if not questionable_gain(getattr(model, "products", inf), source):
        return None
    tried = trial(model, source)
    return tried if tried is not None and tried.speed_up < 1 else None


def agreement_with_exact(model: Model, source: ExactModel) -> "Comparison | None":
    """Compare a compiled model with its source on support vectors.

    They are an evenly spread sample if all would take longer than reading the exact model.
    """
    if not source.header.total_sv or not model.pairs:
        return None
    work = max(len(source.vectors.indices), source.header.total_sv)
    return agreement(model, source, [spread(source.vectors, max(LEAST_ROWS, WORK // work))])


def spread(rows: _native.Chunk, most: int) -> _native.Chunk:
    """Return at most `most` evenly spread rows."""
    count = min(rows.rows, most)
    return rows.select([at * rows.rows // count for at in range(count)])


def _seconds(model: Model, rows: _native.Chunk, out: _native.Decisions, precision: Precision) -> float:
    times: list[float] = []
    before = _native.set_threads_here(1)
    try:
        while len(times) < _LEAST_RUNS or (len(times) < _MOST_RUNS and sum(times) < _LEAST_SECONDS):
            start = thread_time()
            model.decision_values(rows, out, precision)
            times.append(thread_time() - start)
    finally:
        _native.set_threads_here(before)
    return max(min(times), 1e-9)  # a coarse clock may not move

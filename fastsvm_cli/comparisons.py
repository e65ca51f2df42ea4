"""Two models on the same rows: answers that differ, bounds of their share, the rule of a budget, and times.

The guarantee of a cascade: with confidence 1 - delta, at most a share `budget` of rows drawn like the tested ones get
another label than the exact model's. The delta is of all calibrations, those included that end without a cascade: of
the cascades alone, more may break the budget.

Let p(t) be the probability that the cascade with threshold t changes a row's label. The thresholds t_1 > t_2 > ... and
the stages are fixed before the tested rows are looked at. Among n such rows, drawn independently, k(t) labels differ.

(1) Clopper and Pearson (1934): P(p(t) > u(k(t), n)) <= delta, with u(k, n) the (1 - delta) quantile of the beta
    distribution with parameters k + 1 and n - k, and u(n, n) = 1.
(2) Fixed sequence (Angelopoulos, Bates, Candes, Jordan and Lei, "Learn then Test", 2021, section 3.2): thresholds are
    tested in their order, up to the first with u(k(t), n) > budget; the last one before it is taken. Let t_j be the
    first with p(t_j) > budget. A threshold with p > budget is taken only if t_j passes, u(k(t_j), n) <= budget <
    p(t_j), which has probability at most delta by (1), whatever the number of thresholds.
(3) Each class: p_c(t), k_c(t) and n_c are of the rows that the exact model gives class c, which are drawn independently
    like the class's, given n_c. A threshold passes if u(k_c(t), n_c) <= budget for every c. Let t_j be the first with
    p_c(t_j) > budget for any c. It passes only if that class does, with probability at most delta by (1): an
    intersection-union test (Berger 1982) needs no correction for the number of classes. All rows keep the budget, too:
    their share is a mean of the classes'.

u(k(t), n) at the taken t is no bound with this confidence, as the same counts have chosen t. The guarantee does not
hold for rows of another kind, or for a single row.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, isfinite, sqrt
from time import thread_time
from typing import Any, NamedTuple

from fastsvm_cli import _native
from fastsvm_cli._native import upper_bound as upper_bound
from fastsvm_cli.models import ExactModel, Model, Precision
from fastsvm_cli.prediction import threads_here
from fastsvm_cli.text.read_rows import MOST_VALUES, smaller_chunks

#: Share of labels that may differ, where no budget is given (regression: of the standard deviation).
DEFAULT_BUDGET = 0.005
#: Confidence of a bound. With 95 %, picks on other rows went over the budget as often, and were slower
#: (scripts/README.md, "Picks of bench").
CONFIDENCE = 0.9
#: A class rules a model out if its share is above so many times the budget, with CONFIDENCE for all classes together.
CLASS_TIMES = 4
#: Confidence with which a model is dropped by a sample of the rows.
_SURELY = 0.999


class ClassRows(NamedTuple):
    """Numbers of rows that the exact model gives the class `label`, and of those labelled differently."""

    label: object
    rows: int
    different: int

    @property
    def share(self) -> float:
        """Share of the class's rows whose label differs."""
        return self.different / self.rows if self.rows else 0.0


class Changed:
    """The labels that differ from the exact model's, by class of the exact model.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        The labels of the exact model.
    differ : ndarray of bool of shape (n_samples,)
        Whether the other model gives another label.
    known : iterable, default=()
        Classes to list even if they have no rows.

    Attributes
    ----------
    rows, different : int
        Number of rows, and of those whose label differs.
    classes : list of ClassRows
        The classes, by increasing label.
    """

    def __init__(self, labels: Any, differ: Any, known: "Iterable[object]" = ()):
        rows, different = Counter(labels.tolist()), Counter(labels[differ].tolist())
        self.rows, self.different = len(labels), different.total()
        own = {label: ClassRows(label, rows[label], different[label]) for label in {**rows, **dict.fromkeys(known)}}
        #: By increasing label.
        self.classes = [own[label] for label in sorted(own)]

    @property
    def share(self) -> float:
        """Share of all rows whose label differs."""
        return self.different / self.rows if self.rows else 0.0

    @property
    def worst(self) -> "ClassRows | None":
        """Class with the largest share; None if no label differs."""
        return max(self.classes, key=lambda each: (each.share, each.rows)) if self.different else None

    @property
    def largest_share(self) -> float:
        """Largest share of any class."""
        return self.worst.share if self.worst is not None else 0.0

    def within(self, limit: float) -> bool:
        """Return whether no class's share exceeds `limit`."""
        return self.largest_share <= limit  # overall is a mean of the classes'

    def too_small(self, limit: float) -> "list[ClassRows]":
        """Return the classes in which one changed row exceeds `limit`: those with fewer than 1 / `limit` rows."""
        return [each for each in self.classes if limit > 0 and each.rows * limit < 1]


def changed_labels(header: _native.Header, labels: Any, differ: Any) -> "Changed | None":
    """Return the labels, (rows), that differ from the exact model's with this header; None for regression."""
    if header.regression:
        return None
    known = (-1.0, 1.0) if header.svm_type == "one_class" else map(float, header.label or ())
    return Changed(labels, differ, known)


class Budget:
    """Largest share of labels that a model may change. each_class: whether this holds per class.

    The share of all labels counts: Clopper and Pearson's upper bound (1934), of the rows compared, must be within the
    budget, or no label may differ if the rows are too few to show it. The bound is of one model: the fastest of several
    may have passed by chance. A class rules a model out only if the rows show that its share is above CLASS_TIMES the
    budget (Clopper and Pearson's lower bound, with Bonferroni's inequality).
    """

    def __init__(self, share: float, each_class: bool = False):
        self.share, self.each_class = share, each_class

    def permits(self, changed: "Changed") -> bool:
        """Return whether a model that changes these labels is within the budget."""
        return self._shown(changed.different, changed.rows) and self.class_over(changed) is None

    def class_over(self, changed: "Changed") -> "ClassRows | None":
        """Return the class of largest share among those that rule the model out, or None."""
        confidence = 1 - (1 - CONFIDENCE) / max(1, len(changed.classes))

        def rules_out(each: ClassRows) -> bool:
            if self.each_class:
                return not self._shown(each.different, each.rows)
            return lower_bound(each.different, each.rows, confidence) > CLASS_TIMES * self.share

        over = (each for each in changed.classes if each.different and rules_out(each))
        return max(over, key=lambda each: each.share, default=None)

    def surely_exceeded(self, changed: "Changed") -> bool:
        """Return whether so many of a sample's labels differ that all rows can hardly be within the budget."""
        return changed.different > 0 and lower_bound(changed.different, changed.rows, _SURELY) > self.share

    def _shown(self, different: int, rows: int) -> bool:
        return not different or bound(different, rows) <= self.share


def bound(different: int, rows: int) -> float:
    """Return the share that, with CONFIDENCE, the labels that differ do not exceed."""
    return upper_bound(different, rows, CONFIDENCE) if rows else 1.0


def lower_bound(differing: int, rows: int, confidence: float) -> float:
    """Return Clopper and Pearson's lower bound of a share."""
    return 1 - upper_bound(rows - differing, rows, confidence)


def interval_95(different: int, rows: int) -> "tuple[float, float]":
    """Return the 95 % interval of the share `different` of `rows` (Wilson 1927)."""
    if not rows:
        return 0.0, 1.0
    n, p, z = rows, different / rows, 1.96
    middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # Exact 0 and 1 where none or all changed.
    low = max(0.0, middle - half) / (1 + z * z / n) if different else 0.0
    return low, (middle + half) / (1 + z * z / n) if different < rows else 1.0


def rms_interval_95(squares: float, fourths: float, count: int) -> "tuple[float, float]":
    """Return a root mean square's 95 % interval, from the mean square's normal one.

    squares, fourths: sums of second and fourth powers of `count` numbers.
    """
    if not count:
        return 0.0, inf
    mean = squares / count
    half = 1.96 * sqrt(max(0.0, fourths / count - mean * mean) / count)
    return sqrt(max(0.0, mean - half)), sqrt(mean + half)


def rows_needed(budget: float, confidence: float, differing: int = 0) -> int:
    """Return the fewest rows that show the budget, 0 < budget < 1, if `differing` differ."""
    if not 0 < budget < 1:
        raise ValueError("expected a budget between 0 and 1")
    low, high = differing, differing + 1
    while upper_bound(differing, high, confidence) > budget and high < 1 << 1000:  # float has no more
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if upper_bound(differing, middle, confidence) > budget else (low, middle)
    return high


def most_differing(rows: int, budget: float, confidence: float) -> int:
    """Return how many of `rows` rows may differ, to show the budget; -1 for none."""
    return bisect_right(range(rows), budget, key=lambda differing: upper_bound(differing, rows, confidence)) - 1


def last_within(
    differing: "Iterable[Sequence[int]]", rows: "Sequence[int]", budget: float, confidence: float
) -> "int | None":
    """Return the position of the threshold that (2) or (3) takes; None if the first fails.

    differing: by threshold, strict ones first, rows that differ: of all, or of each class. rows: all, or of each class.
    """
    taken = None
    for at, counts in enumerate(differing):
        if any(upper_bound(count, n, confidence) > budget for count, n in zip(counts, rows)):
            break
        taken = at
    return taken


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
            return self.different / self.rows if self.rows else 0.0
        return share_of_spread(self.difference, self.spread, abs(self._first))

    @property
    def upper(self) -> float:
        """Upper bound of the share, for random rows; regression: the share."""
        return self.share if self.regression else bound(self.different, self.rows)

    def line(self, where: str) -> str:
        """Say how far the models agree on rows `where`."""
        if not self.regression:
            return f"labels that differ on {where}: {self.different} of {self.rows} ({100 * self.share:.3g} %)"
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
    with threads_here(1):
        while len(times) < _LEAST_RUNS or (len(times) < _MOST_RUNS and sum(times) < _LEAST_SECONDS):
            start = thread_time()
            model.decision_values(rows, out, precision)
            times.append(thread_time() - start)
    return max(min(times), 1e-9)  # a coarse clock may not move

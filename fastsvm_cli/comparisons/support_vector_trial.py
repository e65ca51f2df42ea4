"""Compare a compiled model with its source on a sample of the support vectors."""

from time import thread_time

from fastsvm_cli import _native
from fastsvm_cli.comparisons.agreement import Comparison, agreement
from fastsvm_cli.models.base import ExactModel, Model, Precision
from fastsvm_cli.text.read_rows import MOST_VALUES

#: Share of wrong answers worth a warning.
DOUBTFUL = 0.01
# Maximum number of predicted support vectors, and minimum for large models.
_ROWS = 1000
LEAST_ROWS = 100
# Limit of rows times entries of all support vectors: about the time of reading the exact model.
WORK = 25_000_000
# Limit of products of a timing's run.
_TRIAL_WORK = 1e9
# Limits of a timing's runs and seconds.
_LEAST_RUNS, _MOST_RUNS, _LEAST_SECONDS = 3, 50, 0.1


class Trial:
    """Gain of a model over the exact one on `rows` rows.

    evaluations: share of the exact model's kernel evaluations. speed_up: ratio of times, of one thread.
    """

    def __init__(self, rows: int, evaluations: float, speed_up: float):
        self.rows, self.evaluations, self.speed_up = rows, evaluations, speed_up


def trial(model: Model, source: ExactModel, data: "_native.Chunk | None" = None) -> "Trial | None":
    """Measure the gain on up to 1,000 evenly spread rows of `data`, else of the support vectors.

    It takes fewer if a row takes many products. Support vectors of a classifier lie nearer to the border than most
    rows, so that a model whose rows stop early gains less on them. Return None for a model without support vectors.
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
    evaluations = out.kernel_evaluations / (rows.rows * total)
    exact = _seconds(source, rows, source.decisions(Precision.labels()), Precision.labels())
    return Trial(rows.rows, evaluations, exact / compiled)


def questionable_gain(products: float, source: ExactModel) -> bool:
    """Return whether this many products per row might be slower than the exact model.

    A product takes as long as a kernel evaluation's, or a few times less.
    """
    vectors = source.vectors
    return 4 * products > len(vectors.indices) + vectors.rows * max(1, vectors.leading_count)


def agreement_with_exact(model: Model, source: ExactModel) -> "Comparison | None":
    """Compare a compiled model with its source on a sample of the support vectors.

    The sample has up to 1,000 evenly spread ones, fewer if that takes longer than reading the exact model.
    """
    if not source.header.total_sv or not model.pairs:
        return None
    work = max(len(source.vectors.indices), source.header.total_sv)
    return agreement(model, source, [spread(source.vectors, min(_ROWS, max(LEAST_ROWS, WORK // work)))])


def spread(rows: _native.Chunk, most: int) -> _native.Chunk:
    """Return at most `most` rows, evenly spread."""
    count = min(rows.rows, most)
    return rows.select([at * rows.rows // count for at in range(count)])


def _seconds(model: Model, rows: _native.Chunk, out: _native.Decisions, precision: Precision) -> float:
    """Return the least processor time of one thread, which other programs hardly change.

    First runs prepare the model.
    """
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

"""A compiled model tried out on its own support vectors: what it gains, and how often it is wrong."""

from time import perf_counter

from fastsvm_cli import _native
from fastsvm_cli.comparisons.agreement import Comparison, agreement
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.wanted import Wanted
from fastsvm_cli.text.data import MOST_VALUES

#: A larger share of wrong answers is worth a warning.
DOUBTFUL = 0.01
# Support vectors that are predicted: at most, and at least where the model is so large that fewer would be chosen.
_ROWS = 1000
LEAST_ROWS = 100
# Predicted rows times entries of all support vectors, at most: that takes the exact model about as long as reading it.
WORK = 25_000_000
# Of a timing: as many runs as fit the seconds, within these limits.
_LEAST_RUNS, _MOST_RUNS, _LEAST_SECONDS = 3, 50, 0.1


class Trial:
    """What a compiled model gains on support vectors.

    rows: that were predicted. evaluations: the share of the exact model's kernel evaluations that were done, of a model
    that counts them. speed_up: the exact model's time over the compiled one's, both in memory."""

    def __init__(self, rows: int, evaluations: float, speed_up: float):
        self.rows, self.evaluations, self.speed_up = rows, evaluations, speed_up


def trial(model: Model, source: ExactModel) -> "Trial | None":
    """What the model gains: predict up to 1,000 support vectors, evenly spread over the file; None where there are
    none."""
    total = source.header.total_sv
    if not total or not model.pairs:
        return None
    rows = spread_vectors(source, max(1, min(_ROWS, MOST_VALUES // model.pairs)))
    # Each as `predict` has it, for labels alone where it can tell them.
    wanted = Wanted.within(1e-3) if model.header.regression else Wanted.labels()
    out = model.decisions(wanted)
    compiled = _seconds(model, rows, out, wanted)
    evaluations = out.kernel_evaluations / (rows.rows * total)
    exact = _seconds(source, rows, source.decisions(Wanted.labels()), Wanted.labels())
    return Trial(rows.rows, evaluations, exact / compiled)


def doubtful_gain(products: float, source: ExactModel) -> bool:
    """Whether a compiled model whose rows take so many products might be slower than the exact one, so that a trial is
    worth its time: a product of an expansion is up to a few times as fast as one of a kernel evaluation, or as slow."""
    vectors = source.vectors
    return 4 * products > len(vectors.indices) + vectors.rows * max(1, vectors.leading_count)


def agreement_with_exact(model: Model, source: ExactModel) -> "Comparison | None":
    """How often the model is wrong: predict up to 1,000 support vectors, evenly spread over the file, with both,
    fewer of large models: the exact one is not to take longer than reading it did. None where there are none."""
    if not source.header.total_sv or not model.pairs:
        return None
    work = max(len(source.vectors.indices), source.header.total_sv)
    return agreement(model, source, [spread_vectors(source, min(_ROWS, max(LEAST_ROWS, WORK // work)))])


def spread_vectors(source: ExactModel, most: int) -> _native.Chunk:
    total = source.header.total_sv
    return source.vectors.select([at * total // min(total, most) for at in range(min(total, most))])


def _seconds(model: Model, rows: _native.Chunk, out: _native.Decisions, wanted: Wanted) -> float:
    """The least of several runs: the first ones lay the model out, and short ones are mostly the start of threads."""
    times: list[float] = []
    while len(times) < _LEAST_RUNS or (len(times) < _MOST_RUNS and sum(times) < _LEAST_SECONDS):
        start = perf_counter()
        model.decision_values(rows, out, wanted)
        times.append(perf_counter() - start)
    return min(times)

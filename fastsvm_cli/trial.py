"""What a compiled model gains, tried out on its support vectors."""

from time import perf_counter

from fastsvm_cli import _native
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.exact import ExactModel

_ROWS = 1000
_LEAST_RUNS, _MOST_RUNS, _LEAST_SECONDS = 3, 50, 0.1


class Trial:
    """rows; evaluations: share of the kernel evaluations that were done, of a model that counts them; speed_up: time of the exact model over that of the compiled
    one, both in memory."""

    def __init__(self, rows: int, evaluations: float, speed_up: float):
        self.rows, self.evaluations, self.speed_up = rows, evaluations, speed_up


def trial(model: Model, source: ExactModel) -> "Trial | None":
    """Predict up to 1,000 support vectors, evenly spread over the file; None where there are none."""
    total = source.header.total_sv
    if not total or not model.pairs:
        return None
    rows = source.vectors.select([at * total // min(total, _ROWS) for at in range(min(total, _ROWS))])
    out = _native.Decisions(model.pairs)
    until = 1e-3 if model.header.regression else None
    compiled = _seconds(model, rows, out, until)
    evaluations = out.kernel_evaluations / (rows.rows * total)
    exact = _seconds(source, rows, out, None)
    return Trial(rows.rows, evaluations, exact / compiled)


def _seconds(model, rows, out, until) -> float:
    """The least of several runs: the first ones lay the model out, and short ones are mostly the start of threads."""
    times: "list[float]" = []
    while len(times) < _LEAST_RUNS or (len(times) < _MOST_RUNS and sum(times) < _LEAST_SECONDS):
        start = perf_counter()
        model.decision_values(rows, out, until)
        times.append(perf_counter() - start)
    return min(times)

"""Measured times of a cascade's stages, of the exact model, and of reading."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from time import thread_time

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.methods.cascade.stages import Candidates
from fastsvm_cli.methods.parallel import threads_here
from fastsvm_cli.models import parse_model
from fastsvm_cli.models.base import LABELS, ExactModel, Model

_TIMINGS = 5
_STAGE_ROWS, _ROWS = 1024, 4000  # to time stages on, and whole models
_HARD = 8  # one of so many rows
#: Nanoseconds to read a number of a stage.
_STAGE_NUMBER_NS = 60.0

#: A run, and its number of operations, about.
Run = tuple[Callable[[], object], float]


def seconds_of(runs: "Sequence[Run]") -> "list[float]":
    """Return processor seconds of each run on one thread: the least of several, by turns.

    Tests replace this function by one that counts operations: no result of theirs may depend on the machine.
    """
    least = [float("inf")] * len(runs)
    with threads_here(1):
        for _ in range(_TIMINGS):
            for at, (run, _operations) in enumerate(runs):
                start = thread_time()
                run()
                least[at] = min(least[at], max(thread_time() - start, 1e-9))  # a coarse clock may not move
    return least


class StageCosts:
    """Seconds of a row in each stage and in the exact model, with its share in reading the stages."""

    def __init__(
        self,
        model: ExactModel,
        left: Model,
        candidates: Candidates,
        rows: _native.Chunk,
        margins: np.ndarray,
        job: int,
    ):
        """Time all candidates.

        left: the cascade that leaves every row after the first one. margins: of the rows, in the last. job: rows of a
        run.
        """
        some = _spread(rows, _STAGE_ROWS)
        # The exact model gets the rows of small margins, whose labels take longer.
        hard = _spread(rows.select(np.sort(np.argsort(margins)[: -(-rows.rows // _HARD)]).tolist()), _STAGE_ROWS)
        stages, count = candidates.stages, len(candidates.stages)
        # Kernel values of one stage serve the next.
        pairs = [(a, b) for a, b in combinations(range(count), 2) if 0 < stages[a].vectors < stages[b].vectors]
        decisions = left.decisions(LABELS)
        first = candidates.cascade(model, stages[:1])
        runs: list[Run] = [
            (partial(first.label, hard), _operations(model, stages[:1], hard)),
            (
                partial(left.decision_values, hard, decisions, LABELS),
                _exact_operations(model, hard) + _operations(model, stages[:1], hard),
            ),
        ]
        for several in [*((each,) for each in range(count)), *pairs]:
            its = [stages[each] for each in several]
            cascade = candidates.cascade(model, its)
            runs.append((partial(cascade.label, some), _operations(model, its, some)))
        before, whole, *others = (each / some.rows for each in seconds_of(runs))
        self._alone = others[:count]
        self._after = {pair: max(both - self._alone[pair[0]], 0.0) for pair, both in zip(pairs, others[count:])}
        self._exact = max(whole - before, 0.0)
        self._reading = [
            1e-9 * _STAGE_NUMBER_NS / job * (len(each.polynomial) + len(each.coefficients)) for each in stages
        ]

    def of(self, stages: "tuple[int, ...]", reached: "Sequence[float]") -> float:
        """Return seconds of a row. reached: share of the rows that reach each stage, and the exact model."""
        total = reached[-1] * self._exact
        for before, stage, share in zip((-1, *stages), stages, reached):
            total += share * self._after.get((before, stage), self._alone[stage]) + self._reading[stage]
        return total


def gain_of(exact: ExactModel, cascade: Model, reached: "Sequence[float]", rows: _native.Chunk, job: int) -> float:
    """Return the exact model's time for a run of `job` rows over the cascade's, both with reading.

    reached: as in StageCosts.of.
    """
    some = _spread(rows, min(rows.rows, _ROWS))
    text, *models = _native.format_rows(some), exact.to_text(), cascade.to_text()
    its, mine = exact.decisions(LABELS), cascade.decisions(LABELS)
    whole = _exact_operations(exact, some)
    through = sum(
        share * _operations(exact, cascade.stages[at : at + 1], some) for at, share in enumerate(reached[:-1])
    )
    reading, all_exact, staged, *loading = seconds_of(
        [
            (partial(_native.parse, text), 20.0 * len(text)),
            (partial(exact.decision_values, some, its, LABELS), whole),
            (partial(cascade.decision_values, some, mine, LABELS), through + reached[-1] * whole),
            *((partial(parse_model, each, cascade.path), 20.0 * len(each)) for each in models),
        ]
    )
    its_loading, my_loading = (each * some.rows / job for each in loading)
    return (reading + all_exact + its_loading) / (reading + staged + my_loading)


def _spread(rows: _native.Chunk, count: int) -> _native.Chunk:
    """Return rows at even distances, `count` of them; each several times, if there are fewer."""
    return rows if rows.rows == count else rows.select([at * rows.rows // count for at in range(count)])


def _exact_operations(model: ExactModel, rows: _native.Chunk) -> float:
    return float(model.header.total_sv * len(rows.indices))


def _operations(model: ExactModel, stages: "Sequence[_native.CascadeStage]", rows: _native.Chunk) -> float:
    vectors = max(each.vectors for each in stages) * len(rows.indices)
    others = max(model.header.nr_class - 1, 1) / model.pairs  # a row's winner has so many of the pairs
    numbers = sum(len(each.coefficients) + len(each.polynomial) for each in stages)
    return vectors + rows.rows * numbers * others

"""Choose among measured models: the fastest inside a budget, and those that nothing beats."""

from collections.abc import Callable, Sequence
from math import sqrt
from statistics import median
from typing import Generic, TypeVar

from fastsvm_cli.benchmarks.bench_run import Bench
from fastsvm_cli.benchmarks.table_row import CLOCKS, END_TO_END, SCORING, Case
from fastsvm_cli.benchmarks.timing import Timings
from fastsvm_cli.comparisons.budget import Budget

#: Medians closer than this share of their sum are equal, however small their spread.
_LEAST_NOISE = 0.02
_HALF_WIDTH = 2.46  # times spread / sqrt(runs)
_FINALISTS = 4  # for a budget, by time in memory

_Model = TypeVar("_Model")


class Candidate(Generic[_Model]):
    """A measured model to pick from.

    changed: share of labels that differ (regression: relative error). timings: by clock, the deciding one first; None
    where there are none. exact: whether it is the exact model.
    """

    def __init__(self, model: _Model, changed: float, timings: "Sequence[Timings | None]", exact: bool):
        self.model, self.changed, self.timings, self.exact = model, changed, timings, exact


def pick(candidates: "Sequence[Candidate[_Model]]") -> "_Model | None":
    """Return the fastest model; among equals, the one that changes fewest labels.

    The exact model wins unless another is measurably faster. A later clock decides where earlier medians differ by less
    than noise.
    """
    noises = [_noise([each.timings[clock] for each in candidates]) for clock in range(_clocks(candidates))]

    def gain(one: "Candidate[_Model]", other: "Candidate[_Model]", clock: int) -> int:
        a, b = one.timings[clock], other.timings[clock]
        if a is None or b is None or abs(b.median - a.median) <= noises[clock](a) + noises[clock](b):
            return 0
        return 1 if a.median < b.median else -1

    def faster(one: "Candidate[_Model]", other: "Candidate[_Model]") -> bool:
        gains = (gain(one, other, clock) for clock in range(len(noises)))
        return next(filter(None, gains), 0) > 0

    level = [each for each in candidates if not any(other.exact and not faster(each, other) for other in candidates)]
    if not level:
        return next((each.model for each in candidates if each.exact), None)
    for clock in range(len(noises)):
        best = min(level, key=lambda each: _median(each.timings[clock]))
        level = [each for each in level if gain(best, each, clock) <= 0 and each.timings[clock] is not None] or level
    return min(level, key=lambda each: (each.changed, *map(_median, reversed(each.timings)))).model


def within(bench: Bench, budget: Budget) -> "Case | None":
    """Return the timed model that `pick` chooses among those within the budget.

    If finalists are timed by fastsvm-predict, only these count. In-memory times come second: start-up dominates
    end-to-end times of small files.
    """
    timed = _timed(bench, END_TO_END, ("exact", "compiled"))
    finals = [(case.of, timings) for case, timings in _timed(bench, END_TO_END, ("program",)) if case.of is not None]
    return pick(
        [
            Candidate(case, distance[0], (timings, case.timings(SCORING)), case.role == "exact")
            for case, timings in finals or timed
            for distance in [bench.distance(case)]
            if distance is not None and bench.fits(case, budget)
        ]
    )


def finalists(bench: Bench, budgets: "Sequence[Budget]") -> "list[Case]":
    """Return the models to time by fastsvm-predict, where the start of Python hides no difference.

    These are the exact model, and for each budget the fastest models within it by either clock.
    """
    found = [case for case, _ in _timed(bench, END_TO_END, ("exact",))]
    for budget in budgets:
        inside = [case for case, _ in _timed(bench, END_TO_END, ("compiled",)) if bench.fits(case, budget)]
        for clock, most in ((SCORING, _FINALISTS), (END_TO_END, 2)):
            found += sorted(inside, key=lambda case: _median(case.timings(clock)))[:most]
    return list(dict.fromkeys(found))


def pareto(bench: Bench, clock: str = END_TO_END) -> "list[Case]":
    """Return the models that no other beats in both time and distance from the exact model."""
    points = [
        (timings.median, distance[0], case)
        for case, timings in _timed(bench, clock, ("exact", "compiled", "reference"))
        for distance in [bench.distance(case)]
        if distance is not None
    ]
    return [
        case
        for seconds, share, case in points
        if not any((s <= seconds and d <= share and (s, d) != (seconds, share)) for s, d, _ in points)
    ]


def unbeaten(bench: Bench) -> "list[Case]":
    """Return the cases that nothing beats in both time and labels, by either clock."""
    return [case for clock in CLOCKS for case in pareto(bench, clock)]


def _sound(bench: Bench, roles: "tuple[str, ...]") -> "list[Case]":
    return [case for case in bench.cases if case.role in roles and case.failed is None]


def _timed(bench: Bench, clock: str, roles: "tuple[str, ...]") -> "list[tuple[Case, Timings]]":
    found = [(case, case.timings(clock)) for case in _sound(bench, roles)]
    return [(case, timings) for case, timings in found if timings is not None]


def _clocks(candidates: "Sequence[Candidate[_Model]]") -> int:
    return min((len(each.timings) for each in candidates), default=0)


def _median(timings: "Timings | None") -> float:
    return timings.median if timings is not None else float("inf")


def _noise(timings: "Sequence[Timings | None]") -> "Callable[[Timings], float]":
    """Return a function that gives the noise of a median.

    The noise of few runs is their spread, that of many the half width of the median's 95 % interval if they are normal.
    It is at least the cases' usual share, because few runs may agree by chance.
    """
    shares = [each.spread / each.median for each in timings if each is not None and each.median > 0]
    share = max(_LEAST_NOISE, median(shares) if shares else 0.0)
    return lambda own: max(own.spread, share * own.median) * min(1.0, _HALF_WIDTH / sqrt(len(own)))

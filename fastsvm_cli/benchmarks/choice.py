"""Which of the measured cases is the one to take."""

from fastsvm_cli.benchmarks.case import END_TO_END, SCORING, Case
from fastsvm_cli.benchmarks.cases import Bench
from fastsvm_cli.benchmarks.timing import Timings


def within(bench: Bench, budget: float) -> "Case | None":
    """The fastest end to end of the exact and compiled models that stay inside the budget; of those that this clock
    cannot tell from the fastest one (the difference is below the spread of both), the fastest in memory: on a small
    file starting the process is most of the time of all."""
    fit = [each for each in _timed(bench, END_TO_END, ("exact", "compiled")) if _fits(bench, each[0], budget)]
    if not fit:
        return None
    best = min((timings for _, timings in fit), key=lambda timings: timings.median)
    level = [(case, timings) for case, timings in fit if timings.median - best.median <= timings.spread + best.spread]

    def seconds(found: "tuple[Case, Timings]") -> "tuple[float, float]":
        case, timings = found
        scoring = case.timings(SCORING)
        return scoring.median if scoring is not None else float("inf"), timings.median

    return min(level, key=seconds)[0]


def best_so_far(bench: Bench, budget: "float | None") -> "Case | None":
    """The fastest by rough_seconds of the exact and compiled models, inside the budget if there is one."""
    fit = [
        (seconds, case)
        for case in _sound(bench, ("exact", "compiled"))
        for seconds in [bench.rough_seconds(case)]
        if seconds is not None and (budget is None or _fits(bench, case, budget))
    ]
    return min(fit, key=lambda each: each[0])[1] if fit else None


def fastest_compiled(bench: Bench) -> "Case | None":
    """End to end, of those that were timed."""
    return min(_timed(bench, END_TO_END, ("compiled",)), key=lambda each: each[1].median, default=(None, Timings()))[0]


def pareto(bench: Bench, clock: str = END_TO_END) -> "list[Case]":
    """The cases than which no other is both as fast by that clock and as true."""
    points = [
        (timings.median, distance[0], case)
        for case, timings in _timed(bench, clock, ("exact", "compiled", "control", "reference"))
        for distance in [bench.distance(case)]
        if distance is not None
    ]
    return [
        case
        for seconds, share, case in points
        if not any((s <= seconds and d <= share and (s, d) != (seconds, share)) for s, d, _ in points)
    ]


def _sound(bench: Bench, roles: "tuple[str, ...]") -> "list[Case]":
    return [case for case in bench.cases if case.role in roles and case.failed is None]


def _timed(bench: Bench, clock: str, roles: "tuple[str, ...]") -> "list[tuple[Case, Timings]]":
    """Of these roles, what was timed by the clock and did not fail."""
    found = [(case, case.timings(clock)) for case in _sound(bench, roles)]
    return [(case, timings) for case, timings in found if timings is not None]


def _fits(bench: Bench, case: Case, budget: float) -> bool:
    return (bench.disagreement(case) or 0.0) <= budget

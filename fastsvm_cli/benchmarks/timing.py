"""Time functions, processes and models in turn, so that a busy machine disturbs all alike.

`interleave` runs each case as often as asked. `race` drops models that can no longer win after every round, and times
the others twice as often: successive halving (Karnin, Koren and Somekh 2013; Jamieson and Talwalkar 2016).
"""

from collections.abc import Callable, Sequence
from math import comb, inf, sqrt
from statistics import median
from time import perf_counter, thread_time
from typing import Protocol

from fastsvm_cli.prediction import threads_here

WARM_UP = -1  # uncounted round
#: A model is faster than another only if it takes at most this share of its time.
FASTER = 0.95
# Rounds before the first models are dropped, and at most; seconds of one model's run, and least number of its rows.
_FIRST_ROUNDS, _MOST_ROUNDS, _RUN_SECONDS, _LEAST_ROWS = 4, 64, 0.01, 200
# A shorter run is counted only after another: the model before it has filled the caches.
_SHORT_SECONDS = 0.002
# A model is dropped whose time is above the fastest's by so many of their errors, and at least by this factor.
_ERRORS, _CLEARLY = 3.0, 1.03
#: A factor whose error is above this share of it is not measurable.
MEASURABLE = 0.25


class Timings:
    """Seconds of repeated runs."""

    def __init__(self, seconds: "list[float] | None" = None):
        self.seconds = seconds if seconds is not None else []

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def median(self) -> float:
        """Median seconds."""
        return median(self.seconds)

    @property
    def spread(self) -> float:
        """Median absolute deviation times 1.4826: a robust standard deviation."""
        middle = self.median
        return 1.4826 * median(abs(each - middle) for each in self.seconds)

    @property
    def interval_95(self) -> "tuple[float, float]":
        """Narrowest symmetric interval between two runs that holds the true median with 95 % probability.

        For any distribution (David and Nagaraja, Order Statistics, 7.1). Fewer than six runs: all of them.
        """
        runs, n = sorted(self.seconds), len(self.seconds)
        outside, cut = 2.0 / 2**n, 0  # beyond the first and last run
        while outside + 2 * comb(n, cut + 1) / 2**n <= 0.05:
            cut += 1
            outside += 2 * comb(n, cut) / 2**n
        return runs[cut], runs[n - 1 - cut]


def speed_up(reference: Timings, other: Timings) -> "tuple[float, float]":
    """Return the ratio of medians, reference over other, and its error, from independent relative spreads."""
    ratio = reference.median / other.median
    return ratio, ratio * sqrt((reference.spread / reference.median) ** 2 + (other.spread / other.median) ** 2)


class Timed:
    """A function or process to time. run: returns a divisor of the seconds (number of rows; 1 for a process)."""

    def __init__(self, name: str, run: "Callable[[], float]"):
        self.name, self.run = name, run
        self.timings = Timings()
        self.failed: str | None = None
        self.warm_up: float | None = None  # of the uncounted run, in seconds
        self.first: float | None = None  # the same, over the divisor

    def planned(self, runs: int, most_seconds: float) -> int:
        """Return how many of `runs`, at least three or all, fit into `most_seconds`."""
        if not self.warm_up:
            return runs
        return min(runs, max(3, int(most_seconds / self.warm_up)))


def seconds_left(cases: "list[Timed]", runs: int, most_seconds: float) -> "float | None":
    """Estimate the remaining seconds, by each case's fastest run; None before every case has run twice."""
    left = 0.0
    for case in cases:
        if case.failed is not None:
            continue
        if case.warm_up is None or case.first is None or not len(case.timings):
            return None
        run = min(case.timings.seconds) * case.warm_up / case.first  # times the divisor
        left += run * (case.planned(runs, most_seconds) - len(case.timings))
    return left


def interleave(
    cases: "list[Timed]",
    runs: int,
    most_seconds: float,
    on_begin: "Callable[[Timed, int], None]" = lambda case, round: None,
) -> None:
    """Warm up cold cases, then run each `runs` times, in rounds.

    A case that would exceed `most_seconds` gets fewer runs, at least three; one that raises an Exception is dropped.
    """
    for round in range(WARM_UP, runs):
        if round != WARM_UP and all(
            case.failed is not None or round >= case.planned(runs, most_seconds) for case in cases
        ):
            break
        for case in cases:
            if case.failed is not None:
                continue
            if case.warm_up is not None if round == WARM_UP else round >= case.planned(runs, most_seconds):
                continue
            on_begin(case, round)
            try:
                start = perf_counter()
                divisor = case.run()
                whole = perf_counter() - start
            except Exception as error:
                case.failed = str(error) or type(error).__name__
                continue
            if round == WARM_UP:
                case.warm_up, case.first = whole, whole / divisor
            else:
                case.timings.seconds.append(whole / divisor)


class Runner(Protocol):
    """A model that takes part."""

    timings: Timings  # seconds a row, of one thread
    count: int  # rows of a run

    def prepare(self, count: int) -> None:
        """Take `count` evenly spread rows."""

    def run(self) -> None:
        """Predict these rows."""


def run_once(runner: Runner, count: int, warm: bool = False) -> float:
    """Return one thread's processor seconds a row over `count` rows. warm: after an uncounted run."""
    runner.prepare(count)
    with threads_here(1):
        if warm:
            runner.run()
        start = thread_time()
        runner.run()
        return max(thread_time() - start, 1e-9) / count


def warm_up(runner: Runner, rows: int) -> float:
    """Time a few rows, choose the rows of a run, and return rough seconds a row."""
    few = min(rows, _LEAST_ROWS)
    seconds = min(run_once(runner, few) for _ in range(2))
    runner.count = max(few, min(rows, int(_RUN_SECONDS / seconds)))
    return min(run_once(runner, runner.count) for _ in range(2))


def race(runners: "Sequence[Runner]", seconds: float, keep: "Runner | None" = None) -> None:
    """Time models that `warm_up` has prepared, until one is the fastest, or about `seconds` are spent. `keep` stays."""
    left, rounds, spent = list(runners), _FIRST_ROUNDS, 0.0
    done = 0
    while len(left) > (keep in left) and done < _MOST_ROUNDS:
        for _ in range(rounds):
            for each in left:
                short = len(each.timings) > 0 and each.timings.median * each.count < _SHORT_SECONDS
                taken = run_once(each, each.count, short)
                each.timings.seconds.append(taken)
                spent += taken * each.count
        done += rounds
        rounds = done
        best = min(left, key=lambda each: each.timings.median)
        left = [each for each in left if each is keep or each is best or not _slower(each.timings, best.timings)]
        if spent >= seconds or (done > _FIRST_ROUNDS and len(left) <= 1 + (keep in left and keep is not best)):
            return


def _slower(one: Timings, other: Timings) -> bool:
    error = _ERRORS * sqrt(median_error(one) ** 2 + median_error(other) ** 2)
    return one.median > max(_CLEARLY * other.median, other.median + error)


def median_error(timings: Timings) -> float:
    """Return the standard error of a median of normal runs."""
    return 1.2533 * timings.spread / sqrt(len(timings)) if len(timings) > 1 else inf


def factor(one: Timings, other: Timings, reading: float) -> "tuple[float, float]":
    """Return the first model's time over the other's, `reading` seconds a row in both, and its error."""
    mine, its = reading + other.median, reading + one.median
    ratio = its / mine
    return ratio, ratio * sqrt((median_error(one) / its) ** 2 + (median_error(other) / mine) ** 2)

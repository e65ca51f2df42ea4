"""Processor time of models on the same rows, until the fastest is known.

Every round times all models in turn, so that a disturbance affects all alike. After a round of rounds, models that can
no longer win are dropped, and the others are timed twice as often: successive halving (Karnin, Koren and Somekh 2013;
Jamieson and Talwalkar 2016).
"""

from collections.abc import Callable, Sequence
from math import inf, sqrt
from time import thread_time
from typing import Protocol

from fastsvm_cli.benchmarks.timing import Timings
from fastsvm_cli.methods.parallel import threads_here

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


class Runner(Protocol):
    """A model that takes part."""

    timings: Timings  # seconds a row, of one thread
    count: int  # rows of a run

    def prepare(self, count: int) -> None:
        """Take `count` evenly spread rows for the next runs."""

    def run(self) -> None:
        """Predict these rows."""


def run_once(runner: Runner, count: int, clock: "Callable[[], float]" = thread_time, warm: bool = False) -> float:
    """Return the processor seconds a row of one thread that predicts `count` rows. warm: after an uncounted run."""
    runner.prepare(count)
    with threads_here(1):
        if warm:
            runner.run()
        start = clock()
        runner.run()
        return max(clock() - start, 1e-9) / count


def warm_up(runner: Runner, rows: int, clock: "Callable[[], float]" = thread_time) -> float:
    """Time a few rows, choose the number of rows of a run, and return rough seconds a row."""
    few = min(rows, _LEAST_ROWS)
    seconds = min(run_once(runner, few, clock) for _ in range(2))
    runner.count = max(few, min(rows, int(_RUN_SECONDS / seconds)))
    return min(run_once(runner, runner.count, clock) for _ in range(2))


def race(
    runners: "Sequence[Runner]",
    seconds: float,
    clock: "Callable[[], float]" = thread_time,
    keep: "Runner | None" = None,
) -> None:
    """Time models that `warm_up` has prepared, until one is the fastest, or about `seconds` are spent.

    keep: is never dropped, as the others are compared with it.
    """
    left, rounds, spent = list(runners), _FIRST_ROUNDS, 0.0
    done = 0
    while len(left) > (keep in left) and done < _MOST_ROUNDS:
        for _ in range(rounds):
            for each in left:
                short = len(each.timings) > 0 and each.timings.median * each.count < _SHORT_SECONDS
                taken = run_once(each, each.count, clock, short)
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
    """Return the standard error of a median, of runs with normal errors."""
    return 1.2533 * timings.spread / sqrt(len(timings)) if len(timings) > 1 else inf


def factor(one: Timings, other: Timings, reading: float) -> "tuple[float, float]":
    """Return the first model's time over the other's, with `reading` seconds a row in both, and the ratio's error."""
    mine, its = reading + other.median, reading + one.median
    ratio = its / mine
    return ratio, ratio * sqrt((median_error(one) / its) ** 2 + (median_error(other) / mine) ** 2)

"""Repeated timings of several cases, interleaved, and what they say."""

from collections.abc import Callable
from math import comb, sqrt
from statistics import mean, median, stdev
from time import perf_counter

WARM_UP = -1  # the round that is not counted


class Timings:
    """Seconds of the runs of one case by one clock."""

    def __init__(self, seconds: "list[float] | None" = None):
        self.seconds = seconds if seconds is not None else []

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def mean(self) -> float:
        return mean(self.seconds)

    @property
    def deviation(self) -> float:
        """The standard deviation of one run; 0 where there is only one."""
        return stdev(self.seconds) if len(self.seconds) > 1 else 0.0

    @property
    def spread(self) -> float:
        """The median distance from the median, times 1.4826, which makes it the standard deviation of normal ones:
        like the median, it does not follow a single run that something disturbed."""
        middle = self.median
        return 1.4826 * median(abs(each - middle) for each in self.seconds)

    @property
    def interval_95(self) -> "tuple[float, float]":
        """The narrowest interval between two runs, as many from below as from above, that holds the median of all runs
        there could be with a probability of 95 % at least, whatever their distribution (David and Nagaraja, Order
        Statistics, 7.1); of fewer than six runs, from the least to the most: 94 % of five."""
        runs, n = sorted(self.seconds), len(self.seconds)
        outside, cut = 2.0 / 2**n, 0  # beyond the first and the last run
        while outside + 2 * comb(n, cut + 1) / 2**n <= 0.05:
            cut += 1
            outside += 2 * comb(n, cut) / 2**n
        return runs[cut], runs[n - 1 - cut]

    @property
    def least(self) -> float:
        return min(self.seconds)

    @property
    def most(self) -> float:
        return max(self.seconds)


def speed_up(reference: Timings, other: Timings) -> "tuple[float, float]":
    """How many times as fast as the reference, by the medians, and the error of that: the relative spreads of both,
    added as independent ones are. Both by the same clock."""
    ratio = reference.median / other.median
    return ratio, ratio * sqrt((reference.spread / reference.median) ** 2 + (other.spread / other.median) ** 2)


class Timed:
    """Something to time. run: does it once, and returns a number to divide the seconds by (rows; 1 for a whole
    process). failed: why it can go no further."""

    def __init__(self, name: str, clock_name: str, run: "Callable[[], float]"):
        self.name, self.clock_name, self.run = name, clock_name, run
        self.timings = Timings()
        self.failed: str | None = None
        self.warm_up: float | None = None  # seconds of the run that is not counted

    def planned(self, runs: int, most_seconds: float) -> int:
        """How often it is run, after one to warm up: `runs` times, or as often as takes `most_seconds`, but three."""
        if not self.warm_up:
            return runs
        return min(runs, max(3, int(most_seconds / self.warm_up)))


def seconds_left(cases: "list[Timed]", runs: int, most_seconds: float) -> "float | None":
    """What the runs that are left will take, by the first one of every case; None before each was run once."""
    left = 0.0
    for case in cases:
        if case.failed is not None:
            continue
        if case.warm_up is None:
            return None
        left += case.warm_up * (case.planned(runs, most_seconds) - len(case.timings))
    return left


def interleave(
    cases: "list[Timed]",
    runs: int,
    most_seconds: float,
    on_run: "Callable[[Timed, int, float], None]" = lambda case, round, seconds: None,
    on_begin: "Callable[[Timed, int], None]" = lambda case, round: None,
    clock: "Callable[[], float]" = perf_counter,
) -> None:
    """Run every case once to warm up, unless it is warm, then `runs` times, in rounds: what disturbs the machine for a
    while disturbs all. A case of which `runs` runs would take longer than `most_seconds` is run fewer times, but three.
    A case that raises an Exception is left out from then on; its `failed` says why. on_begin: called before every run
    with the round, on_run after it with its seconds (divided, where the case has a divisor) as well."""
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
                start = clock()
                divisor = case.run()
                whole = clock() - start
            except Exception as error:
                case.failed = str(error) or type(error).__name__
                continue
            if round == WARM_UP:
                case.warm_up = whole
            else:
                case.timings.seconds.append(whole / divisor)
            on_run(case, round, whole / divisor)

"""Repeated, interleaved timings of several cases, and their statistics."""

from collections.abc import Callable
from math import comb, sqrt
from statistics import mean, median, stdev
from time import perf_counter

WARM_UP = -1  # the round that is not counted


class Timings:
    """Seconds of one case's runs by one clock."""

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
        """Standard deviation of one run; 0 for a single run."""
        return stdev(self.seconds) if len(self.seconds) > 1 else 0.0

    @property
    def spread(self) -> float:
        """Median absolute deviation times 1.4826: the standard deviation for normal data, robust against disturbed
        runs."""
        middle = self.median
        return 1.4826 * median(abs(each - middle) for each in self.seconds)

    @property
    def interval_95(self) -> "tuple[float, float]":
        """Narrowest symmetric interval between two runs that holds the true median with at least 95 % probability,
        for any distribution (David and Nagaraja, Order Statistics, 7.1). With fewer than six runs, from the least to
        the most: 94 % for five."""
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
    """Return the ratio of the medians, reference over other, and its error: the relative spreads of both, added as
    independent. Both must use the same clock."""
    ratio = reference.median / other.median
    return ratio, ratio * sqrt((reference.spread / reference.median) ** 2 + (other.spread / other.median) ** 2)


class Timed:
    """Something to time. run: runs it once, and returns a divisor of the seconds (rows; 1 for a whole process).
    failed: why it stopped."""

    def __init__(self, name: str, clock_name: str, run: "Callable[[], float]"):
        self.name, self.clock_name, self.run = name, clock_name, run
        self.timings = Timings()
        self.failed: str | None = None
        self.warm_up: float | None = None  # seconds of the run that is not counted

    def planned(self, runs: int, most_seconds: float) -> int:
        """Return the number of runs after the warm-up: `runs`, or as many as fit `most_seconds`, but at least three."""
        if not self.warm_up:
            return runs
        return min(runs, max(3, int(most_seconds / self.warm_up)))


def seconds_left(cases: "list[Timed]", runs: int, most_seconds: float) -> "float | None":
    """Return the estimated seconds of the remaining runs, from the warm-ups; None before every case has one."""
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
    """Run every cold case once to warm up, then each `runs` times, in rounds, so that a disturbance affects all. A
    case whose runs would exceed `most_seconds` is run fewer times, at least three. A case that raises an Exception
    is dropped; its `failed` says why. on_begin: called before every run with (case, round); on_run: after it, also
    with its seconds over the divisor."""
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

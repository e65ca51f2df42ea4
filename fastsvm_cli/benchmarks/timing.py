"""Time functions and processes in turn, so that a busy machine disturbs all alike."""

from collections.abc import Callable
from math import comb, sqrt
from statistics import mean, median, stdev
from time import perf_counter

WARM_UP = -1  # uncounted round


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
    def mean(self) -> float:
        """Mean seconds."""
        return mean(self.seconds)

    @property
    def deviation(self) -> float:
        """Standard deviation of the seconds; 0 for one run."""
        return stdev(self.seconds) if len(self.seconds) > 1 else 0.0

    @property
    def spread(self) -> float:
        """Median absolute deviation times 1.4826: a robust standard deviation."""
        middle = self.median
        return 1.4826 * median(abs(each - middle) for each in self.seconds)

    @property
    def interval_95(self) -> "tuple[float, float]":
        """Narrowest symmetric interval between two runs that holds the true median with 95 % probability.

        It holds for any distribution (David and Nagaraja, Order Statistics, 7.1). With fewer than six runs, it spans
        all of them.
        """
        runs, n = sorted(self.seconds), len(self.seconds)
        outside, cut = 2.0 / 2**n, 0  # beyond the first and last run
        while outside + 2 * comb(n, cut + 1) / 2**n <= 0.05:
            cut += 1
            outside += 2 * comb(n, cut) / 2**n
        return runs[cut], runs[n - 1 - cut]

    @property
    def least(self) -> float:
        """Seconds of the fastest run."""
        return min(self.seconds)

    @property
    def most(self) -> float:
        """Seconds of the slowest run."""
        return max(self.seconds)


def speed_up(reference: Timings, other: Timings) -> "tuple[float, float]":
    """Return the ratio of medians, reference over other, and its error from independent relative spreads."""
    ratio = reference.median / other.median
    return ratio, ratio * sqrt((reference.spread / reference.median) ** 2 + (other.spread / other.median) ** 2)


class Timed:
    """A function or process to time.

    run: does the work, and returns a divisor of the seconds (number of rows; 1 for a whole process). failed: why it
    stopped, or None. dropped: whether it takes no further runs.
    """

    def __init__(self, name: str, clock_name: str, run: "Callable[[], float]"):
        self.name, self.clock_name, self.run = name, clock_name, run
        self.timings = Timings()
        self.failed: str | None = None
        self.dropped = False
        self.warm_up: float | None = None  # of the uncounted run, in seconds
        self.first: float | None = None  # the same, over the divisor

    def planned(self, runs: int, most_seconds: float) -> int:
        """Return how many of `runs` fit into `most_seconds`: at least three, or all if they are fewer."""
        if not self.warm_up:
            return runs
        return min(runs, max(3, int(most_seconds / self.warm_up)))


def seconds_left(cases: "list[Timed]", runs: int, most_seconds: float) -> "float | None":
    """Estimate the remaining seconds, by the fastest run of each case.

    Return None before every case has run twice: a first run may read files from a disk.
    """
    left = 0.0
    for case in cases:
        if case.failed is not None or case.dropped:
            continue
        if case.warm_up is None or case.first is None or not len(case.timings):
            return None
        run = case.timings.least * case.warm_up / case.first  # times the divisor
        left += run * (case.planned(runs, most_seconds) - len(case.timings))
    return left


def interleave(
    cases: "list[Timed]",
    runs: int,
    most_seconds: float,
    on_run: "Callable[[Timed, int, float], None]" = lambda case, round, seconds: None,
    on_begin: "Callable[[Timed, int], None]" = lambda case, round: None,
    goes_on: "Callable[[int], bool]" = lambda round: True,
    clock: "Callable[[], float]" = perf_counter,
) -> None:
    """Warm up cold cases, then run each `runs` times, in rounds, so that a disturbance affects all.

    A case that would exceed `most_seconds` gets fewer runs, at least three; one that raises an Exception is dropped.
    on_begin: receives (case, round). on_run: also the seconds over the divisor. goes_on: receives each counted round,
    from 0 on, before it; may drop cases; False ends all.
    """
    for round in range(WARM_UP, runs):
        if round != WARM_UP and all(
            case.failed is not None or case.dropped or round >= case.planned(runs, most_seconds) for case in cases
        ):
            break
        if round != WARM_UP and not goes_on(round):
            break
        for case in cases:
            if case.failed is not None or case.dropped:
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
                case.warm_up, case.first = whole, whole / divisor
            else:
                case.timings.seconds.append(whole / divisor)
            on_run(case, round, whole / divisor)

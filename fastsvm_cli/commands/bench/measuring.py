"""Run a benchmark as the options say, and show its progress."""

from fastsvm_cli.benchmarks import environment
from fastsvm_cli.benchmarks.bench_run import Bench
from fastsvm_cli.benchmarks.choice import finalists, within
from fastsvm_cli.benchmarks.table_row import CLOCKS, END_TO_END, SCORING, Case
from fastsvm_cli.benchmarks.timing import Timed, seconds_left
from fastsvm_cli.commands.bench.options import BenchOptions
from fastsvm_cli.commands.bench.screen import BenchScreen, about
from fastsvm_cli.comparisons.budget import DEFAULT_BUDGET, Budget


class Measuring:
    """A run of ``fastsvm bench``, which measures models and reports to the screen."""

    def __init__(self, bench: Bench, options: BenchOptions, screen: BenchScreen):
        self._bench, self._options, self._screen = bench, options, screen
        bench.on_wait = screen.draw

    def measure(self, cases: "list[Case]") -> "Case | None":
        """Time cases by both clocks, finalists by fastsvm-predict; return the fastest within the budget, or None."""
        bench, program, budget = self._bench, environment.native_program(), self._options.rule
        for clock in (END_TO_END, SCORING):
            self._measure(cases, clock)
        if program is not None:
            last = finalists(bench, (Budget(0.0), Budget(DEFAULT_BUDGET)) if budget is None else (budget,))
            self._measure([bench.add_program(each, program) for each in last], END_TO_END)
        return within(bench, budget) if budget is not None else None

    def _measure(self, cases: "list[Case]", clock: str) -> None:
        screen, runs, most_seconds = self._screen, self._options.runs, self._options.max_seconds
        timed = self._bench.timed(cases, clock)
        named = CLOCKS[clock]

        def begins(case: Timed, round: int) -> None:
            run = f"run {round + 1} of {case.planned(runs, most_seconds)}" if round >= 0 else "to warm up"
            screen.doing(f"{named}, {run}: {case.name}")

        def ran(case: Timed, round: int, seconds: float) -> None:
            left = seconds_left(timed, runs, most_seconds)
            whole = sum(1 + each.planned(runs, most_seconds) for each in timed if each.failed is None)
            warm = sum(each.warm_up is not None for each in timed)
            words = f"{warm} of {len(timed)} warm" if left is None else f"{named}: {about(left)} left"
            screen.remaining((warm + sum(len(each.timings) for each in timed)) / max(1, whole), words)

        self._bench.measure(cases, clock, runs, most_seconds, ran, begins)

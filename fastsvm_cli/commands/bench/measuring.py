"""Run a benchmark as the options say, and show its progress."""

from time import monotonic

from fastsvm_cli.benchmarks import environment
from fastsvm_cli.benchmarks.attempt_lines import TrialLines
from fastsvm_cli.benchmarks.attempts import compile_attempts
from fastsvm_cli.benchmarks.bench_run import Bench
from fastsvm_cli.benchmarks.choice import DEFAULT_BUDGET, finalists, surely_slower, within
from fastsvm_cli.benchmarks.table_row import CLOCKS, END_TO_END, SCORING, Case
from fastsvm_cli.benchmarks.timing import Timed, seconds_left
from fastsvm_cli.commands.bench.options import BenchOptions
from fastsvm_cli.commands.bench.screen import BenchScreen, about
from fastsvm_cli.methods import attempts

# Without --budget, models of --try that differ more are not timed.
_LIMIT = 0.05
_FEWEST_RUNS, _FINAL_RUNS = 3, 15


class Measuring:
    """A run of ``fastsvm bench``, which compiles attempts, measures them and reports to the screen.

    began: when it began, of time.monotonic.
    """

    def __init__(self, bench: Bench, options: BenchOptions, screen: BenchScreen, began: float):
        self._bench, self._options, self._screen = bench, options, screen
        self._lines: TrialLines | None = None  # of --try
        self._tried = self._attempted = 0
        self._end = began + options.time_limit if options.attempt else None
        bench.on_wait = screen.draw

    def try_everything(self, fastsvm: "list[str]") -> None:
        """Compile the model in every way that applies, and add the results."""
        assert self._end is not None
        bench, options, screen = self._bench, self._options, self._screen
        budget = DEFAULT_BUDGET if options.budget is None else options.budget
        found = attempts(bench.answers.model, options.max_size * 1e6, options.patience)
        if not bench.may_calibrate(budget):
            found = [each for each in found if not each.needs_rows and (budget or each.budget_option is None)]
        tried = [each for each in found if each.skipped is None]
        self._attempted = len(tried)
        self._lines = lines = TrialLines(bench, tried, options.budget)
        screen.say(lines.beginning(found, options.max_size, options.patience, options.time_limit))
        for case in bench.cases:
            if case.role != "start-up" and (case.end_to_end is not None or case.failed is not None):
                screen.doing(f"{case.name}: first run")
                bench.run_once([case])
                screen.say(lines.of(case))
        self._show_tried()
        late = compile_attempts(
            bench,
            tried,
            fastsvm,
            options.patience,
            self,
            budget=budget,
            limit=_LIMIT if options.budget is None else budget,
            deadline=self._end,
        )
        if late:
            names = ", ".join(each.name for each in late)
            screen.say([(f"Left out by --time-limit {options.time_limit:g} s: {names}.", "")])

    def begins(self, what: str) -> None:
        """Show the step that begins."""
        self._screen.doing(what)

    def ended(self, cases: "list[Case]") -> None:
        """Show the measured cases of an attempt."""
        assert self._lines is not None  # set by try_everything
        self._tried += 1
        for case in cases:
            self._screen.say(self._lines.of(case))
        self._show_tried()

    def _show_tried(self) -> None:
        assert self._lines is not None
        self._screen.best(self._lines.best())
        self._screen.remaining(self._tried / max(1, self._attempted), f"{self._tried} of {self._attempted} tried")

    def measure(self, cases: "list[Case]") -> "Case | None":
        """Time cases by both clocks, finalists by fastsvm-predict; return the fastest within the budget, or None."""
        bench, program, budget = self._bench, environment.native_program(), self._options.budget
        for clock, phases_left in ((END_TO_END, 3), (SCORING, 2)):
            self._measure(cases, clock, self._options.runs, phases_left)
        if program is not None:
            last = finalists(bench, (0.0, DEFAULT_BUDGET) if budget is None else (budget,))
            runs = max(self._options.runs, _FINAL_RUNS) if self._options.attempt else self._options.runs
            self._measure([bench.add_program(each, program) for each in last], END_TO_END, runs)
        return within(bench, budget) if budget is not None else None

    def _measure(self, cases: "list[Case]", clock: str, runs: int, phases_left: int = 1) -> None:
        bench, screen, most_seconds = self._bench, self._screen, self._options.max_seconds
        timed = bench.timed(cases, clock)
        named = CLOCKS[clock]
        by_timed = {case.end_to_end: case for case in cases if case.tried and case.role == "compiled"}
        end = None if self._end is None else monotonic() + (self._end - monotonic()) / phases_left

        def begins(case: Timed, round: int) -> None:
            run = f"run {round + 1} of {case.planned(runs, most_seconds)}" if round >= 0 else "to warm up"
            screen.doing(f"{named}, {run}: {case.name}")

        def ran(case: Timed, round: int, seconds: float) -> None:
            left = seconds_left(timed, runs, most_seconds)
            if left is not None and end is not None:
                left = min(left, max(0.0, end - monotonic()))
            whole = sum(1 + each.planned(runs, most_seconds) for each in timed if each.failed is None)
            warm = sum(each.warm_up is not None for each in timed)
            words = f"{warm} of {len(timed)} warm" if left is None else f"{named}: {about(left)} left"
            screen.remaining((warm + sum(len(each.timings) for each in timed)) / max(1, whole), words)
            if self._lines is not None:
                screen.best(self._lines.best())

        def goes_on(round: int) -> bool:
            for each in timed:
                case = by_timed.get(each)
                if clock == END_TO_END and case is not None and case.dropped is None and surely_slower(bench, case):
                    case.dropped, each.dropped = "slower than another that changes no more", True
            return end is None or round < _FEWEST_RUNS or monotonic() < end

        bench.measure(cases, clock, runs, most_seconds, ran, begins, goes_on)

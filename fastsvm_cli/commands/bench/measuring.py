from fastsvm_cli.benchmarks.attempts import compile_attempts
from fastsvm_cli.benchmarks.case import CLOCKS, END_TO_END, SCORING, Case
from fastsvm_cli.benchmarks.cases import Bench
from fastsvm_cli.benchmarks.timing import Timed, seconds_left
from fastsvm_cli.benchmarks.trial_lines import TrialLines
from fastsvm_cli.commands.bench.options import BenchOptions
from fastsvm_cli.commands.bench.screen import BenchScreen, about
from fastsvm_cli.methods import attempts


class Measuring:
    def __init__(self, bench: Bench, options: BenchOptions, screen: BenchScreen):
        self._bench, self._options, self._screen = bench, options, screen
        self._lines: TrialLines | None = None  # of --try
        self._tried = self._attempted = 0
        bench.on_wait = screen.draw

    def try_everything(self, fastsvm: "list[str]") -> None:
        bench, options, screen = self._bench, self._options, self._screen
        found = attempts(bench.answers.model, options.max_size * 1e6, options.patience)
        if not bench.may_calibrate(options.budget):
            found = [each for each in found if not each.calibrates]
        tried = [each for each in found if each.skipped is None]
        self._attempted = len(tried)
        self._lines = lines = TrialLines(bench, tried, options.budget)
        screen.say(lines.beginning(found, options.max_size, options.patience))
        for case in bench.cases:
            if case.role != "start-up" and (case.end_to_end is not None or case.failed is not None):
                screen.doing(f"{case.name}: first run")
                bench.run_once([case])
                screen.say(lines.of(case))
        self._show_tried()
        compile_attempts(bench, tried, fastsvm, options.patience, self, options.budget)

    def begins(self, what: str) -> None:
        self._screen.doing(what)

    def ended(self, cases: "list[Case]") -> None:
        assert self._lines is not None  # set by try_everything
        self._tried += 1
        for case in cases:
            self._screen.say(self._lines.of(case))
        self._show_tried()

    def _show_tried(self) -> None:
        assert self._lines is not None
        self._screen.best(self._lines.best())
        self._screen.remaining(self._tried / max(1, self._attempted), f"{self._tried} of {self._attempted} tried")

    def measure(self, cases: "list[Case]") -> None:
        for clock in (END_TO_END, SCORING):
            self._measure(cases, clock)

    def _measure(self, cases: "list[Case]", clock: str) -> None:
        bench, screen = self._bench, self._screen
        runs, most_seconds = self._options.runs, self._options.max_seconds
        timed = bench.timed(cases, clock)
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
            if self._lines is not None:
                screen.best(self._lines.best())

        bench.measure(cases, clock, runs, most_seconds, ran, begins)

"""Runs of a benchmark, with their progress on a terminal."""

import sys
from time import monotonic
from typing import TYPE_CHECKING

from fastsvm_cli import system
from fastsvm_cli.benchmarks import environment
from fastsvm_cli.benchmarks.bench_run import CLOCKS, END_TO_END, SCORING, Bench, Case
from fastsvm_cli.benchmarks.conclusion import finalists, within
from fastsvm_cli.benchmarks.timing import Timed, seconds_left
from fastsvm_cli.commands.bench.options import BenchOptions
from fastsvm_cli.comparisons.budget import DEFAULT_BUDGET, Budget
from fastsvm_cli.console.progress import show_cursor
from fastsvm_cli.console.terminal import can_be_drawn_on, new_console

if TYPE_CHECKING:
    from rich.live import Live


class BenchScreen:
    """Live lines about a benchmark on a terminal."""

    def __init__(self, *, quiet: bool):
        self._stream = sys.stderr  # rich replaces sys.stderr while it draws
        self._drawn = not quiet and can_be_drawn_on(self._stream)
        self._live: Live | None = None
        self._next = monotonic() + 1.0
        self._doing, self._since = "", monotonic()
        self._share: float | None = None
        self._left = ""

    def doing(self, what: str) -> None:
        """Show the step that begins."""
        self._doing, self._since = what, monotonic()
        self.draw()

    def remaining(self, share: float, words: str) -> None:
        """Show the share of the current phase that is done, and words about the rest."""
        self._share, self._left = min(max(share, 0.0), 1.0), words
        self.draw()

    def draw(self) -> None:
        """Redraw, at most ten times a second."""
        now = monotonic()
        if not self._drawn or now < self._next:
            return
        from rich.text import Text

        if self._live is None:
            from rich.live import Live

            # No refresh thread: it would disturb timings, and may not start.
            self._live = Live(
                console=new_console(self._stream), transient=True, auto_refresh=False, redirect_stdout=False
            )
            system.add_undo(show_cursor)
            self._live.start()
        elapsed = now - self._since
        lines = [self._doing + (f", {_duration(elapsed)}" if elapsed >= 1 else "")]
        if self._share is not None:
            lines.append(f"{100 * self._share:.0f} %: {self._left}")
        self._live.update(Text("\n".join(lines)), refresh=True)
        self._next = now + 0.1

    def __enter__(self) -> "BenchScreen":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the redrawn part."""
        if self._live is not None:
            self._live.stop()
            self._live = None
            system.remove_undo(show_cursor)
        self._next = monotonic() + 1.0


def _about(seconds: float) -> str:
    if seconds < 10:
        return "some seconds"
    if seconds < 100:
        return f"about {10 * round(seconds / 10)} s"
    return f"about {seconds / 60:.2g} minutes" if seconds < 6000 else f"about {seconds / 3600:.2g} hours"


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60}:{whole % 60:02d}" if whole < 3600 else f"{whole // 3600}:{whole % 3600 // 60:02d} h"


def measure(bench: Bench, options: BenchOptions, screen: BenchScreen) -> "Case | None":
    """Time cases by both clocks, finalists by fastsvm-predict; return the fastest within the budget, or None."""
    bench.on_wait = screen.draw
    program, budget = environment.native_program(), options.rule
    for clock in (END_TO_END, SCORING):
        _measure(bench, options, screen, bench.cases, clock)
    if program is not None:
        last = finalists(bench, (Budget(0.0), Budget(DEFAULT_BUDGET)) if budget is None else (budget,))
        _measure(bench, options, screen, [bench.add_program(each, program) for each in last], END_TO_END)
    return within(bench, budget) if budget is not None else None


def _measure(bench: Bench, options: BenchOptions, screen: BenchScreen, cases: "list[Case]", clock: str) -> None:
    runs, most_seconds = options.runs, options.max_seconds
    timed, named = bench.timed(cases, clock), CLOCKS[clock]

    def begins(case: Timed, round: int) -> None:
        run = f"run {round + 1} of {case.planned(runs, most_seconds)}" if round >= 0 else "to warm up"
        screen.doing(f"{named}, {run}: {case.name}")

    def ran(case: Timed, round: int, seconds: float) -> None:
        left = seconds_left(timed, runs, most_seconds)
        whole = sum(1 + each.planned(runs, most_seconds) for each in timed if each.failed is None)
        warm = sum(each.warm_up is not None for each in timed)
        words = f"{warm} of {len(timed)} warm" if left is None else f"{named}: {_about(left)} left"
        screen.remaining((warm + sum(len(each.timings) for each in timed)) / max(1, whole), words)

    bench.measure(cases, clock, runs, most_seconds, ran, begins)

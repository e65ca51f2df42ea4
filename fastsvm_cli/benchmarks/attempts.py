"""Compile a model in every way that ``bench --try`` knows, and measure the results."""

import itertools
import os
import subprocess
import time
from typing import Protocol

from fastsvm_cli.benchmarks import child_processes
from fastsvm_cli.benchmarks.bench_run import Bench
from fastsvm_cli.benchmarks.table_row import Case
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.method import Attempt

# A method that misses the budget, of a class's rows say, is tried again with a budget smaller by its excess and this.
_SMALLER = 0.7
_LEAST_SECONDS = 1.0  # left for an attempt
# Share of the remaining time that a compilation may take: others are to be tried too.
_SHARE_OF_REST = 0.5


class Onlooker(Protocol):
    """Receiver of the progress of attempts."""

    def begins(self, what: str) -> None:
        """Receive the next step's description."""

    def ended(self, cases: "list[Case]") -> None:
        """Receive an attempt's cases."""


def compile_attempts(
    bench: Bench,
    tried: "list[Attempt]",
    fastsvm: "list[str]",
    patience: float,
    onlooker: Onlooker,
    *,
    budget: float,
    limit: float,
    deadline: float,
) -> "list[Attempt]":
    """Compile attempts in turn, add the models to the bench, and run each that is within the limit once.

    Each takes at most `patience` seconds and a half of the rest, while enough time is left to measure what there is by
    the deadline (of time.monotonic). A failure becomes a case. Return the attempts that were left out for lack of time.

    fastsvm: words that start this program. budget: share of labels that may differ, for methods that search for it; an
    attempt that misses it is made once more with a smaller one. limit: as in Bench.add_model.
    """
    late: list[Attempt] = []
    waiting = [(each, each.name, budget) for each in tried]
    for at in itertools.count():
        if not waiting:
            return late
        each, name, share = waiting.pop(0)
        left = deadline - time.monotonic() - bench.seconds_to_measure()
        if left <= max(each.seconds, _LEAST_SECONDS):
            late += [each] if name == each.name else []
            continue
        path = os.path.join(bench.folder, f"tried{at}")
        onlooker.begins(name)
        start = time.perf_counter()
        given = [] if each.budget_option is None else [f"--{each.budget_option}", f"{share:.3g}"]
        half = each.budget_option is not None and bench.may_calibrate(share)
        failed: str | None = None
        if each.refused is not None:  # the command's message
            failed = str(ModelFormatError(bench.exact_file, each.refused))
        else:
            data = ["--data", bench.calibration_file()] if half else []
            words = [*fastsvm, *each.arguments, *bench.thread_words(), "-q", *given, *data, bench.exact_file, path]
            most = min(patience, _SHARE_OF_REST * left)
            try:
                code, printed = child_processes.run(words, timeout=most, on_wait=bench.on_wait)
                failed = None if code == 0 else printed.strip().removeprefix("Error: ")
            except subprocess.TimeoutExpired:
                failed = f"given up after {most:.3g} s ({'--patience' if most == patience else '--time-limit'})"
        seconds = time.perf_counter() - start
        if failed is not None:
            case = Case(name, "compiled")
            case.failed = failed.removeprefix(f"{bench.exact_file}: ")
            bench.cases.append(case)
            onlooker.ended([case])
            continue
        onlooker.begins(f"{name}: labels")
        cases = bench.add_model(path, name=name, exact=each.exact, calibrated=half, limit=limit)
        for case in cases:
            case.compile_seconds = seconds
            case.made_by = [*each.arguments, *given, *(["--data", bench.test_file] if half else [])]  # on all rows
        onlooker.begins(f"{name}: first run")
        bench.run_once(cases)
        onlooker.ended(cases)
        changed = bench.changed(cases[0]) or cases[0].look
        if half and name == each.name and cases[0].dropped is not None and changed is not None:
            smaller = float(f"{_SMALLER * share * limit / changed.largest_share:.2g}")
            if bench.may_calibrate(smaller):  # once more
                waiting.insert(0, (each, f"{each.name} --{each.budget_option} {smaller:g}", smaller))
    return late

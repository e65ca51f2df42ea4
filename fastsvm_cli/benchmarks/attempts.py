import os
import subprocess
import time
from typing import Protocol

from fastsvm_cli.benchmarks import child_processes
from fastsvm_cli.benchmarks.case import Case
from fastsvm_cli.benchmarks.cases import Bench
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.method import Attempt


class Onlooker(Protocol):
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
    budget: "float | None" = None,
) -> None:
    """budget: of attempts that calibrate.

    Compile attempts, each for at most `patience` seconds; after one reduced set is given up, skip larger ones. Add
    the models to the bench and run each once. A failure becomes a case."""
    too_slow: str | None = None
    for at, each in enumerate(tried):
        path = os.path.join(bench.folder, f"tried{at}")
        onlooker.begins(each.name)
        start = time.perf_counter()
        failed: str | None = None
        if each.refused is not None:  # the command's message
            failed = str(ModelFormatError(bench.exact_file, each.refused))
        elif too_slow is not None and each.reduces:
            failed = f"not tried: {too_slow} took too long"
        else:
            words = [*fastsvm, *each.arguments, *bench.thread_words(), "-q"]
            if each.calibrates:
                words += [
                    "--data",
                    bench.calibration_file(),
                    *(["--budget", repr(budget)] if budget else []),
                ]
            words += [bench.exact_file, path]
            try:
                code, said = child_processes.run(words, timeout=patience, on_wait=bench.on_wait)
                failed = None if code == 0 else said.strip().removeprefix("Error: ")
            except subprocess.TimeoutExpired:
                failed = f"given up after {patience:g} s (--patience)"
                too_slow = each.name if each.reduces else too_slow
        seconds = time.perf_counter() - start
        if failed is not None:
            case = Case(each.name, "compiled")
            case.failed = failed
            bench.cases.append(case)
            onlooker.ended([case])
            continue
        onlooker.begins(f"{each.name}: labels")
        cases = bench.add_model(path, name=each.name, exact=each.exact, calibrated=each.calibrates)
        for case in cases:
            case.compile_seconds, case.made_by = seconds, each.arguments
            if each.calibrates:  # again, on all rows
                case.made_by += [
                    *(["--budget", f"{budget:g}"] if budget else []),
                    "--data",
                    bench.test_file,
                ]
        onlooker.begins(f"{each.name}: first run")
        bench.run_once(cases)
        onlooker.ended(cases)

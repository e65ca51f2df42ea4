import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

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


class Outcome:
    """Outcome of an attempt. failed: why no model was made. given_up: too slow."""

    def __init__(self, seconds: float, failed: "str | None" = None, given_up: bool = False):
        self.seconds, self.failed, self.given_up = seconds, failed, given_up


#: Compiles attempts and yields outcomes in order; its second argument receives each step.
CompileAll = Callable[["list[tuple[Attempt, str]]", "Callable[[str], None]"], "Iterable[Outcome]"]


def compile_attempts(bench: Bench, tried: "list[Attempt]", compile_all: CompileAll, onlooker: Onlooker) -> None:
    """Compile attempts; add the models to the bench and run each once. A failure becomes a case."""
    paths = [os.path.join(bench.folder, f"tried{at}") for at in range(len(tried))]
    outcomes = compile_all(list(zip(tried, paths)), onlooker.begins)
    for each, path, outcome in zip(tried, paths, outcomes):
        if outcome.failed is not None:
            case = Case(each.name, "compiled")
            case.failed = outcome.failed
            bench.cases.append(case)
            onlooker.ended([case])
            continue
        onlooker.begins(f"{each.name}: labels")
        cases = bench.add_model(path, name=each.name, exact=each.exact)
        for case in cases:
            case.compile_seconds, case.made_by = outcome.seconds, each.arguments
        onlooker.begins(f"{each.name}: first run")
        bench.run_once(cases)
        onlooker.ended(cases)


def one_by_one(bench: Bench, fastsvm: "list[str]", patience: float) -> CompileAll:
    """Compile here, each for at most `patience` seconds; after one reduced set is given up, skip larger ones."""

    def compile_all(tried: "list[tuple[Attempt, str]]", begins: "Callable[[str], None]") -> "Iterator[Outcome]":
        too_slow = None
        for each, path in tried:
            begins(each.name)
            why = refused_before(bench, each, too_slow)
            if why is not None:
                yield Outcome(0.0, why)
                continue
            words = [*fastsvm, *each.arguments, *bench.thread_words(), "-q", bench.exact_file, path]
            outcome = run(words, patience, on_wait=bench.on_wait)
            if outcome.given_up and each.reduces:
                too_slow = each.name
            yield outcome

    return compile_all


def refused_before(bench: Bench, attempt: Attempt, too_slow: "str | None") -> "str | None":
    if attempt.refused is not None:  # the command's message
        return str(ModelFormatError(bench.exact_file, attempt.refused))
    return f"not tried: {too_slow} took too long" if too_slow is not None and attempt.reduces else None


def run(words: "list[str]", patience: float, **watching: Any) -> Outcome:
    """Time a compile command. watching: arguments of child_processes.run."""
    start = time.perf_counter()
    try:
        code, said = child_processes.run(words, timeout=patience, **watching)
    except subprocess.TimeoutExpired:
        return Outcome(time.perf_counter() - start, f"given up after {patience:g} s (--patience)", given_up=True)
    return Outcome(time.perf_counter() - start, None if code == 0 else said.strip().removeprefix("Error: "))

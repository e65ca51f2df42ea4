"""Every way to compile a model that applies to it: the commands that `bench --try` tries."""

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from fastsvm_cli import _native
from fastsvm_cli.benchmarks import child_processes
from fastsvm_cli.benchmarks.case import Case
from fastsvm_cli.benchmarks.cases import Bench
from fastsvm_cli.compilers.border import compile as border
from fastsvm_cli.compilers.maclaurin import certificates
from fastsvm_cli.compilers.maclaurin import compile as maclaurin
from fastsvm_cli.compilers.maclaurin.costs import certify_seconds, file_bytes
from fastsvm_cli.compilers.ordered import geometry, triangle
from fastsvm_cli.compilers.reduced_set import compile as reduced_set
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.maclaurin import MAX_DEGREE
from fastsvm_cli.text.sizes import digits, size_text

# What is tried of --centers, --ratio and --samples.
_CENTERS = (4, 16, 64)
_RATIOS = (0.002, 0.005, 0.01, 0.02, 0.05)
_SAMPLES = (30, 100, 1000)


class Attempt:
    """A command that compiles the model.

    arguments: of fastsvm, without the files. exact: whether what it makes is to be predicted with --exact as well.
    skipped: why it is not tried, or None; limit: the option that says so. refused: why the command would refuse the
    model, or None."""

    def __init__(
        self,
        *arguments: str,
        exact: bool = False,
        skipped: "str | None" = None,
        limit: "str | None" = None,
        refused: "str | None" = None,
    ):
        self.arguments, self.exact = list(arguments), exact
        self.skipped, self.limit, self.refused = skipped, limit, refused

    @property
    def name(self) -> str:
        """The command as the tables show it."""
        return " ".join(self.arguments)

    @property
    def reduces(self) -> bool:
        return self.arguments[0] == "reduce"


class Onlooker(Protocol):
    """Who is told what is being tried."""

    def begins(self, what: str) -> None:
        """A step of an attempt, in a few words."""

    def ended(self, cases: "list[Case]") -> None:
        """What an attempt has come to: cases that have been run once, or one that says why it failed."""


def attempts(model: ExactModel, max_bytes: float, patience: float) -> "list[Attempt]":
    """What every compiler is asked for that does not refuse the model. max_bytes: of a compiled model. patience:
    seconds a compilation may take, as far as that is known beforehand."""
    out: list[Attempt] = []
    if not model.pairs or not model.header.total_sv:
        return out
    if maclaurin.refusal(model) is None:
        out += _expansions(model, max_bytes, patience)
    if reduced_set.refusal(model) is None:
        least = max(2, model.header.nr_class)
        ratios = [ratio for ratio in _RATIOS if ratio * model.header.total_sv >= least]
        out += [Attempt("reduce", "--ratio", str(ratio)) for ratio in ratios]
    if border.refusal(model) is None and not border.needs_rows(model):
        out += [Attempt("border", "--samples", str(samples)) for samples in _SAMPLES]
    for name, method in (("geometry", geometry), ("triangle", triangle)):
        if method.refusal(model) is None:
            out.append(Attempt("order", "--method", name))
    return out


def _expansions(model: ExactModel, max_bytes: float, patience: float) -> "list[Attempt]":
    header, features = model.header, len(_native.used_indices(model.vectors))
    without_certificate = certificates.refusal(model)
    out: list[Attempt] = []

    def approx(*options: str, degree: int, expansions: int = 1) -> None:
        certify = "--certify" in options
        size = file_bytes(header, features, degree, expansions)
        why = size_text(size) if size > max_bytes else None
        limit = "--max-size"
        if why is None and certify:
            seconds = certify_seconds(header, features)
            why = f"about {digits(seconds, 2)} s" if seconds > patience else None
            limit = "--patience"
        refused = without_certificate if certify else None
        out.append(Attempt("approx", *options, exact=certify, skipped=why, limit=limit, refused=refused))

    if header.kernel_type != "rbf":
        approx("--certify", degree=maclaurin.own_degree(header))
        return out
    for degree in range(1, MAX_DEGREE + 1):
        approx("--degree", str(degree), *(["--certify"] if degree in (2, 3) else []), degree=degree)
    for degree in range(1, MAX_DEGREE + 1):
        approx("--center", "origin", "--degree", str(degree), degree=degree)
    if model.pairs > 1:
        approx("--center", "pair", "--certify", degree=2)
    for centers in _CENTERS:
        for degree in (2, 3):
            if centers < header.total_sv:
                approx("--centers", str(centers), "--degree", str(degree), degree=degree, expansions=centers)
    return out


def methods_refused(model: ExactModel) -> "list[tuple[str, str]]":
    """(command, why) of the compilers of which `attempts` has nothing because they refuse the model."""
    if not model.pairs or not model.header.total_sv:
        return [("every method", "the model has no support vectors")]
    whys = [
        ("approx", maclaurin.refusal(model)),
        ("reduce", reduced_set.refusal(model)),
        (
            "border",
            border.refusal(model)
            or ("a one-class model found: its border lies between rows, --data" if border.needs_rows(model) else None),
        ),
        *(
            (f"order --method {name}", method.refusal(model))
            for name, method in (("geometry", geometry), ("triangle", triangle))
        ),
    ]
    return [(command, why) for command, why in whys if why is not None]


class Outcome:
    """What became of an attempt. seconds: that it took. failed: why nothing was made, or None. given_up: it took too
    long."""

    def __init__(self, seconds: float, failed: "str | None" = None, given_up: bool = False):
        self.seconds, self.failed, self.given_up = seconds, failed, given_up


#: Compiles attempts, each into its path, and gives the outcomes in their order; calls its second argument with what
#: begins.
CompileAll = Callable[["list[tuple[Attempt, str]]", "Callable[[str], None]"], "Iterable[Outcome]"]


def compile_attempts(bench: Bench, tried: "list[Attempt]", compile_all: CompileAll, onlooker: Onlooker) -> None:
    """Compile by the commands that a user would type, each timed as a new process, file to file, add what they made to
    the bench, and run it once; what fails, or takes too long, is a case that says so."""
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
    """On this machine, each given up after `patience` seconds. Larger reduced sets take longer: none is tried behind
    one that was given up. fastsvm: the command's words."""

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
    """Why an attempt fails without being made. too_slow: the name of a smaller reduced set that was given up."""
    if attempt.refused is not None:  # what the command would say, without the time it takes
        return str(ModelFormatError(bench.exact_file, attempt.refused))
    return f"not tried: {too_slow} took too long" if too_slow is not None and attempt.reduces else None


def run(words: "list[str]", patience: float, **watching: Any) -> Outcome:
    """A command that compiles, timed and given up after `patience` seconds. watching: of child_processes.run."""
    start = time.perf_counter()
    try:
        code, said = child_processes.run(words, timeout=patience, **watching)
    except subprocess.TimeoutExpired:
        return Outcome(time.perf_counter() - start, f"given up after {patience:g} s (--patience)", given_up=True)
    return Outcome(time.perf_counter() - start, None if code == 0 else said.strip().removeprefix("Error: "))

"""Every way to compile a model that applies to it: the commands that `bench --try` tries."""

import os
import subprocess
import time
from collections.abc import Callable
from typing import Protocol

from fastsvm_cli import _native
from fastsvm_cli.benchmarks import child_processes
from fastsvm_cli.benchmarks.cases import Bench, Case
from fastsvm_cli.compilers.border import compile as border
from fastsvm_cli.compilers.maclaurin import certificates
from fastsvm_cli.compilers.maclaurin import compile as maclaurin
from fastsvm_cli.compilers.maclaurin.costs import certify_seconds, file_bytes
from fastsvm_cli.compilers.ordered import blocks, geometry, triangle
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
    for name, method in (("geometry", geometry), ("triangle", triangle), ("blocks", blocks)):
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
            for name, method in (("geometry", geometry), ("triangle", triangle), ("blocks", blocks))
        ),
    ]
    return [(command, why) for command, why in whys if why is not None]


def compile_attempts(
    bench: Bench,
    tried: "list[Attempt]",
    fastsvm: "list[str]",
    patience: float,
    onlooker: Onlooker,
    on_run: Callable,
) -> None:
    """Compile by the commands that a user would type, each timed as a new process, file to file, add what they made to
    the bench, and run it once; what fails, or takes longer than `patience` seconds, is a case that says so. Larger
    reduced sets take longer: none is tried behind one that was given up. on_run: of Bench.measure."""
    given_up = None
    for at, each in enumerate(tried):
        onlooker.begins(each.name)
        reduces = each.arguments[0] == "reduce"
        why = f"not tried: {given_up} took too long" if given_up is not None and reduces else None
        if each.refused is not None:  # what the command would say, without the time it takes
            why = str(ModelFormatError(bench.exact_file, each.refused))
        path = os.path.join(bench.folder, f"tried{at}")
        start = time.perf_counter()
        if why is None:
            words = [
                *fastsvm,
                *each.arguments,
                *bench.thread_words(),
                "-q",
                bench.exact_file,
                path,
            ]
            try:
                code, said = child_processes.run(words, timeout=patience, on_wait=bench.on_wait)
                why = None if code == 0 else said.strip().removeprefix("Error: ")
            except subprocess.TimeoutExpired:
                why = f"given up after {patience:g} s (--patience)"
                given_up = each.name if reduces else given_up
        seconds = time.perf_counter() - start
        if why is not None:
            case = Case(each.name, "compiled")
            case.failed = why
            bench.cases.append(case)
            onlooker.ended([case])
            continue
        onlooker.begins(f"{each.name}: labels")
        cases = bench.add_model(path, name=each.name, exact=each.exact)
        for case in cases:
            case.compile_seconds, case.made_by = seconds, each.arguments
        onlooker.begins(f"{each.name}: first run")
        bench.run_once(cases, on_run)
        onlooker.ended(cases)

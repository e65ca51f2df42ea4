"""Every way to compile a model that applies to it: the commands that `bench --try` tries."""

import os
import subprocess
import time
from collections.abc import Callable

from fastsvm_cli import _native
from fastsvm_cli.benchmarks import process
from fastsvm_cli.benchmarks.cases import Bench, Case
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.maclaurin import MAX_DEGREE, coefficient_count
from fastsvm_cli.text.sizes import size_text

_NUMBER_BYTES = 11  # of a coefficient in a file
_CENTERS = (4, 16, 64)
_RATIOS = (0.002, 0.005, 0.01, 0.02, 0.05)
_SAMPLES = (30, 100, 1000)
_CERTIFY_OPERATIONS = 2e9  # a second, about


class Attempt:
    """arguments: of fastsvm, without the files. exact: predict with --exact as well. skipped: why it is not tried,
    or None."""

    def __init__(self, *arguments: str, exact: bool = False, skipped: "str | None" = None):
        self.arguments, self.exact, self.skipped = list(arguments), exact, skipped

    @property
    def name(self) -> str:
        return " ".join(self.arguments)


def attempts(model: ExactModel, max_bytes: float, patience: float) -> "list[Attempt]":
    """max_bytes: of a compiled model. patience: seconds a compilation may take, as far as that is known beforehand."""
    header, features = model.header, len(_native.used_indices(model.vectors))
    out: list[Attempt] = []
    if not model.pairs or not header.total_sv:
        return out

    def approx(*options: str, degree: int, expansions: int = 1, exact: bool = False) -> None:
        size = coefficient_count(features, degree) * model.pairs * expansions * _NUMBER_BYTES
        why = size_text(round(size)) if size > max_bytes else None
        if why is None and "--certify" in options:
            seconds = header.total_sv**2 * features / 2 / _CERTIFY_OPERATIONS * max(1, header.nr_class - 1)
            why = f"about {seconds:.2g} s" if seconds > patience else None
        out.append(Attempt("approx", *options, exact=exact, skipped=why))

    if header.kernel_type == "rbf" and header.gamma >= 0:
        for degree in range(1, MAX_DEGREE + 1):
            approx(
                "--degree",
                str(degree),
                *(["--certify"] if degree in (2, 3) else []),
                degree=degree,
                exact=degree in (2, 3),
            )
        for degree in range(1, MAX_DEGREE + 1):
            approx("--center", "origin", "--degree", str(degree), degree=degree)
        if model.pairs > 1:
            approx("--center", "pair", "--certify", degree=2, exact=True)
        for centers in _CENTERS:
            for degree in (2, 3):
                if centers < header.total_sv:
                    approx("--centers", str(centers), "--degree", str(degree), degree=degree, expansions=centers)
        out += [
            Attempt("reduce", "--ratio", str(ratio))
            for ratio in _RATIOS
            if ratio * header.total_sv >= max(2, header.nr_class)
        ]
    elif header.kernel_type == "linear" or (header.kernel_type == "polynomial" and 1 <= header.degree <= MAX_DEGREE):
        approx("--certify", degree=1 if header.kernel_type == "linear" else header.degree, exact=True)
    if header.classification and header.kernel_type != "precomputed":
        out += [Attempt("border", "--samples", str(samples)) for samples in _SAMPLES]
    if model.kernel.semidefinite:
        out.append(Attempt("order", "--method", "geometry"))
    if header.kernel_type == "rbf" and header.gamma >= 0:
        out += [Attempt("order", "--method", method) for method in ("triangle", "blocks")]
    return out


def compile_attempts(
    bench: Bench,
    tried: "list[Attempt]",
    fastsvm: "list[str]",
    folder: str,
    patience: float,
    threads: int,
    on_progress: "Callable[[float, str], None]",
) -> None:
    """Compile by the commands that a user would type, each timed as a new process, file to file, and add what they
    made to the bench; what fails, or takes longer than `patience` seconds, is a case that says so. Larger reduced
    sets take longer: none is tried behind one that was given up."""
    given_up = None
    for at, each in enumerate(tried):
        on_progress(at / len(tried), each.name)
        reduces = each.arguments[0] == "reduce"
        why = f"not tried: {given_up} took too long" if given_up is not None and reduces else None
        path = os.path.join(folder, f"tried{at}")
        start = time.perf_counter()
        if why is None:
            words = [
                *fastsvm,
                *each.arguments,
                *(["--threads", str(threads)] if threads else []),
                "-q",
                bench.exact_file,
                path,
            ]
            try:
                code, said = process.run(words, timeout=patience)
                why = None if code == 0 else said.strip().removeprefix("Error: ")
            except subprocess.TimeoutExpired:
                why = f"given up after {patience:g} s (--patience)"
                given_up = each.name if reduces else given_up
        seconds = time.perf_counter() - start
        if why is not None:
            case = Case(each.name, "compiled")
            case.failed = why
            bench.cases.append(case)
            continue
        for case in bench.add_model(path, name=each.name, exact=each.exact):
            case.compile_seconds, case.made_by = seconds, each.arguments

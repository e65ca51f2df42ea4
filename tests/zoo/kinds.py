"""Kinds of models that a specimen's model is compiled into, by name.

To add one, write a line here: every trait and every interface is then tested with it."""

import warnings
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import fastsvm_cli
from support.oracles import data_text
from zoo.rounding import FOR_PROOFS, OVERFLOWING
from zoo.traits import specimen

ALL = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")


@dataclass(frozen=True)
class Kind:
    """method, options: of fastsvm_cli.compile. kernels: that it compiles. proves: its labels are LIBSVM's. certified:
    with the exact model beside it, they are."""

    method: str
    options: dict = field(default_factory=dict)
    kernels: "tuple[str, ...]" = ("rbf",)
    regression: bool = True
    proves: bool = False
    certified: bool = False


KINDS = {
    "exact": Kind("exact", kernels=ALL, proves=True),
    "approx": Kind("approx", {"degree": 2}),
    "approx-certified": Kind("approx", {"degree": 3, "certify": True}, ("rbf", "polynomial"), certified=True),
    "approx-linear": Kind("approx", {"degree": 1, "certify": True}, ("linear",), certified=True),
    "approx-centers": Kind("approx", {"degree": 2, "centers": 3}),
    "approx-single": Kind("approx", {"degree": 2, "precision": "single"}),
    "reduced": Kind("reduce", {"ratio": 0.4}, certified=True),
    "border": Kind("border", {"samples": 12}, ("linear", "polynomial", "rbf", "sigmoid"), regression=False),
    "geometry": Kind("geometry", kernels=("linear", "polynomial", "rbf"), proves=True),
    "triangle": Kind("triangle", proves=True),
}


@cache
def _shape(trait):
    found = specimen(trait)
    return found.machine.kernel, found.regression, len(found.machine.pairs), len(found.machine.features)


def suits(trait: str, kind: str) -> bool:
    """Whether this kind of model exists, and compiling it takes no longer than a test should."""
    of, (kernel, regression, pairs, features) = KINDS[kind], _shape(trait)
    if kernel not in of.kernels or (regression and not of.regression):
        return False
    if (trait in FOR_PROOFS and not of.proves) or (trait in OVERFLOWING and kind != "exact"):
        return False
    if pairs > 100:
        return kind == "exact"
    return of.method != "approx" or features < 50


@cache
def compiled(trait: str, kind: str, folder: Path, seed: int = 0) -> Path:
    """File of the compiled model."""
    found, of = specimen(trait, seed), KINDS[kind]
    path, exact = folder / f"{trait}-{seed}-{kind}", folder / f"{trait}-{seed}-exact"
    exact.write_bytes(found.model)
    if kind == "exact":
        return exact
    options = dict(of.options)
    if of.method == "border":
        data = folder / f"{trait}-{seed}-labelled"
        data.write_bytes(data_text(found.rows, [int(label) for label in found.libsvm().labels(found.rows)]))
        options["data"] = str(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fast = fastsvm_cli.compile(exact, of.method, on_progress=False, **options)
    fast.save(path)
    return path

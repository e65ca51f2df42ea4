"""Readers of model files."""

import warnings
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli.errors import FastsvmWarning, ModelFormatError
from fastsvm_cli.models.base import Model
from fastsvm_cli.text.checksum import FOLDED, REDUCED, Ranges
from fastsvm_cli.text.data import read_bytes

if TYPE_CHECKING:
    from fastsvm_cli.models.exact import ExactModel

#: First words of a model file -> "module:Class". REDUCED and FOLDED begin a LIBSVM model's last line.
MODEL_TYPES = {
    "svm_type": "fastsvm_cli.models.exact:ExactModel",
    REDUCED: "fastsvm_cli.models.reduced_set:ReducedModel",
    FOLDED: "fastsvm_cli.models.folded_libsvm:FoldedModel",
    "fastsvm_model maclaurin": "fastsvm_cli.models.maclaurin:MaclaurinModel",
    "fastsvm_model border": "fastsvm_cli.models.border:BorderModel",
    "fastsvm_model density": "fastsvm_cli.models.density:DensityModel",
    "fastsvm_model triangle": "fastsvm_cli.models.triangle:TriangleModel",
    "fastsvm_model geometry": "fastsvm_cli.models.geometry:GeometryModel",
}

looks_like_model = _native.looks_like_model


def load_model(path: str) -> Model:
    """Read a model file; "-" is standard input. Raises ModelFormatError and FileError."""
    return parse_model(read_bytes(path, lambda start: check_start(start, path)), path)


def parse_model(text: bytes, path: str, *, warn: bool = True) -> Model:
    """Read a model's text. warn: about its notes (FastsvmWarning). Raises ModelFormatError."""
    from importlib import import_module

    kind, version = _kind(text, path)
    ranges: Ranges = []
    if version:
        text, ranges = _native.open_compiled(text, path, version)
    elif line := _native.own_line(text):
        _native.check_own_line(text, path)
        kind = line
    module, name = MODEL_TYPES[kind].split(":")
    model = getattr(import_module(module), name).parse(text, path)
    if ranges:
        from fastsvm_cli.models.carried import Carried

        model.carried = Carried.read(ranges, model, path)
    if warn:
        warn_of(model, path, 4)
    return model


def warn_of(model: Model, path: str, level: int) -> None:
    """Warn of a model's notes. level: as stacklevel, of the line to show."""
    for line, note in model.notes:
        warnings.warn(f"{path}:{line}: {note}", FastsvmWarning, stacklevel=level)


def parse_libsvm(
    text: bytes, path: str, expected: str = "the LIBSVM model it was made from", *, warn: bool = True
) -> "ExactModel":
    """Read a LIBSVM model's text, as parse_model. Raises ModelFormatError, which names `expected`."""
    from fastsvm_cli.models.exact import ExactModel

    model = parse_model(text, path, warn=False)
    if not isinstance(model, ExactModel):
        raise ModelFormatError(path, f"a compiled model found, expected {expected}")
    if warn:
        warn_of(model, path, 4)
    return model


def check_start(start: bytes, path: str) -> None:
    """Raise ModelFormatError if no model begins with `start`."""
    if start.split(b"\n", 1)[0].strip() or not start:  # a LIBSVM model may begin with blank lines
        _kind(start, path)


def format_version(text: bytes, path: str) -> "int | None":
    """Return a compiled model's version; None for LIBSVM's. Raises ModelFormatError."""
    return _kind(text, path)[1] or None


def _kind(text: bytes, path: str) -> "tuple[str, int]":
    """Return (key of MODEL_TYPES, version or 0)."""
    name, version = _native.model_kind(text, path)
    return (f"fastsvm_model {name}" if version else "svm_type"), version

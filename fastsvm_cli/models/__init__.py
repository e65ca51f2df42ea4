"""Readers of model files."""

import os

from fastsvm_cli import _native, errors
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.base import ExactModel, Model
from fastsvm_cli.text.read_rows import read_bytes
from fastsvm_cli.text.scaling import EmbeddedScaling, Scaling

looks_like_model = _native.looks_like_model


def load_model(path: "str | bytes | os.PathLike[str]") -> Model:
    """Read a model file of any kind, exact or compiled, as an object that evaluates chunks.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The model file, which may be compressed; "-" is standard input.

    Returns
    -------
    model : Model
        The model; for a LIBSVM model or a reduced set, an ExactModel.

    Raises
    ------
    ModelFormatError
        If the file is not a model that fastsvm can use.
    FileError
        If the file cannot be read.

    Warns
    -----
    FastsvmWarning
        If the file has content that LIBSVM reads, but that its writer may not have meant.
    """
    path = os.fsdecode(path)
    return parse_model(read_model_text(path), path)


def read_model_text(path: str) -> bytes:
    """Return a model file's content; a file that begins like no model is refused before the rest is read."""
    return read_bytes(path, lambda start: check_start(start, path))


def parse_model(text: bytes, path: str, *, warn: bool = True) -> Model:
    """Read a model's text. warn: about its notes (FastsvmWarning)."""
    file = _native.read_model(text, path)
    model = (ExactModel if isinstance(file, _native.LibsvmFile) else Model)(file, path)
    if file.range_scaling is not None:
        model.embedded_scaling = EmbeddedScaling(Scaling(path, file.range_scaling, tuple(file.range_texts)), path)
    if warn:
        warn_of(model, path)
    return model


def warn_of(model: Model, path: str) -> None:
    """Warn of a model's notes."""
    for line, note in model.notes:
        errors.warn(f"{path}:{line}: {note}")


def parse_libsvm(
    text: bytes, path: str, expected: str = "the LIBSVM model it was made from", *, warn: bool = True
) -> ExactModel:
    """Read a LIBSVM model's text, as parse_model. expected: for the message about another kind."""
    model = parse_model(text, path, warn=False)
    if not isinstance(model, ExactModel):
        raise ModelFormatError(path, f"a compiled model found, expected {expected}")
    if warn:
        warn_of(model, path)
    return model


def check_start(start: bytes, path: str) -> None:
    """Require that a model can begin with `start`."""
    if start.split(b"\n", 1)[0].strip() or not start:  # a LIBSVM model may begin with blank lines
        _native.model_kind(start, path)


def format_version(text: bytes, path: str) -> "int | None":
    """Return a compiled model's version; None for LIBSVM's."""
    return _native.model_kind(text, path)[1] or None

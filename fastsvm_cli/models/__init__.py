"""Models: the core's object (native/engine/model.h), what only Python needs, and readers of model files."""

import os
from collections.abc import Sequence
from functools import cached_property
from math import floor, inf, log10
from typing import Any

from fastsvm_cli import _native, errors
from fastsvm_cli._native import Precision as Precision
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.text.read_rows import read_bytes
from fastsvm_cli.text.scaling import EmbeddedScaling, Scaling

#: Default of decision_values.
LABELS = Precision.labels()
#: Its public name.
Wanted = Precision


class Model:
    """A kernel machine, exact or compiled.

    A model also has the attributes of `file`, among them those of its kind alone. `proves`, `certified` and `ordered`
    are independent of each other.

    Parameters
    ----------
    file : ModelFile
        The core's object.
    path : str, default="model"
        The name of the model in messages.

    Attributes
    ----------
    kind : str
        The name in the file's first line; "LIBSVM" for LIBSVM's format.
    header : Header
        The header of the file: type of the machine, kernel, labels, rho and probability parameters.
    fingerprint : str or None
        The fingerprint of the exact model's file or of the training rows; None for a plain LIBSVM model.
    notes : sequence of tuple (int, str)
        Line and text of each note on content that LIBSVM reads, but that the file's writer may not have meant.
    proves : bool
        Whether labels are svm-predict's, and `reference_values` gives svm-predict's numbers: for its own file if that
        is a LIBSVM model, else for the exact model's.
    certified : bool
        Whether `Decisions.radius` bounds the distance of each value from the exact model's.
    ordered : bool
        Whether the model may stop early on a row. It then counts kernel evaluations in `Decisions.evaluations`.
    features : sequence of int
        Increasing LIBSVM indices, the columns of its vectors; empty for a kind that holds rows.
    centers : sequence or None
        The centers of expansions. With an RBF kernel, `Decisions.outside` counts the rows outside the bound of Claesen
        et al., eq. (3.11).
    folded : FoldedScaling or None
        The scaling that the model's numbers include.
    max_index : int
        The largest index, 0 if none; for a precomputed kernel the largest serial number.
    first_index : int
        LIBSVM's index of column 0 of dense rows: 0 if the model or its range knows feature 0, else 1.
    used_indices : sequence of int
        The LIBSVM indices of its numbers.
    pairs : int
        Number of decision functions.
    serials : bool
        Whether rows are a precomputed kernel's: `0:serial`, then a kernel value per training row.
    nbytes : int
        The approximate size in memory.
    bounded : bool
        Whether eq. (3.11) holds of its centers.
    judged_by_bound : bool
        Whether that equation alone judges the errors of its values, as for expansions of degree 2 without radii.
    raw_rows : str or None
        The reason why it takes raw rows, as the end of a sentence.
    unbounded : str
        The message of `fastsvm bound` for a model without vectors, centers or radii.

    Notes
    -----
    `Decisions.value` and `Decisions.radius` are float64 of shape (n_rows, n_pairs). Values have rho subtracted. The
    pairs of classes are in LIBSVM's order: 0/1, 0/2, ..., 1/2 and so on. Unknown features count only in
    `Chunk.squared_norms`. The values of a row do not depend on other rows.
    """

    kind: str
    header: "_native.Header"
    fingerprint: "str | None"
    notes: "Sequence[tuple[int, str]]"
    proves: bool
    certified: bool
    ordered: bool
    features: "Sequence[int]"
    folded: "_native.FoldedScaling | None"
    serials: bool
    used_indices: "Sequence[int]"
    nbytes: int
    unbounded: str
    pairs: int
    max_index: int
    first_index: int
    bounded: bool
    judged_by_bound: bool
    raw_rows: "str | None"
    _embedded_scaling: "EmbeddedScaling | None" = None

    def __init__(self, file: "_native.ModelFile", path: str = "model"):
        self.file, self.path = file, path

    def __getattr__(self, name: str) -> Any:
        if name == "file":  # a copy that is not made yet
            raise AttributeError(name)
        return getattr(self.file, name)

    @cached_property
    def vectors(self) -> Any:  # _native.Chunk | None
        """Support vectors, if the model holds all of them, or None. Every access returns the same object."""
        return self.file.vectors

    @property
    def embedded_scaling(self) -> "EmbeddedScaling | None":
        """Scaling that the model applies to raw rows, or None."""
        return self._embedded_scaling

    @embedded_scaling.setter
    def embedded_scaling(self, embedded_scaling: "EmbeddedScaling | None") -> None:
        self._embedded_scaling = embedded_scaling
        self.file.embed(*(((), None) if embedded_scaling is None else (embedded_scaling.texts, embedded_scaling.whole)))

    @property
    def native(self) -> "_native.Model":
        """The core's model, which evaluates chunks."""
        return self.file.model()

    @property
    def columns(self) -> int:
        """Number of columns of a dense row that holds all known features, from `first_index` on."""
        return self.max_index + 1 - self.first_index

    def row_scaling(self) -> "Scaling | None":
        """Return the argument `scaling` of `read_chunks` for one reading of text; None without an embedded scaling."""
        return None if self.embedded_scaling is None else self.embedded_scaling.scaling()

    def answer(self, decisions: _native.Decisions) -> None:
        """Convert values and radii, in place, to the unit of raw labels, if the model scales labels."""
        if self.embedded_scaling is not None:
            self.embedded_scaling.answer(decisions)

    @property
    def reduced(self) -> bool:
        """Whether the model is a reduced set, whose probability parameters may differ from the exact model's."""
        return self.proves and self.certified

    @property
    def exact(self) -> "ExactModel":
        """The LIBSVM model that an ordered model, or a cascade, holds. Other models raise AttributeError."""
        return ExactModel(self.file.exact, self.path)

    def to_text(self) -> bytes:
        """Return the content of the model file."""
        return self.file.to_text()

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, requested: Precision = LABELS) -> None:
        """Compute the decision values of a chunk.

        Parameters
        ----------
        chunk : Chunk
            The rows. For a model that embeds a scaling, they are scaled already, as by `read_chunks` with
            `row_scaling()`.
        out : Decisions
            The object to fill. Its values are at least as precise as requested.
        requested : Wanted, default=Wanted.labels()
            The precision.

        Raises
        ------
        RowError
            If the model cannot evaluate a row.
        """
        self.native.decision_values(chunk, requested, out)

    def reference_values(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        """Fill `out` with a chunk's decision values in LIBSVM's order of operations, bit for bit.

        The model must have `proves`. Rows and errors are those of `decision_values`.
        """
        self.native.reference_values(chunk, out)

    def decisions(self, requested: Precision, with_radius: bool = False) -> _native.Decisions:
        """Return a Decisions for `decision_values` to fill, with radii if `with_radius`.

        For labels alone, it may hold a winner per row instead of values.
        """
        return self.native.decisions(requested, with_radius)


class ExactModel(Model):
    """A LIBSVM model, as svm-train writes it, or a reduced set (`origin`), or with scaling folded in.

    Its radii bound rounding errors only, or the distance from the origin.
    """

    @property
    def uncompilable(self) -> "str | None":
        """Reason why no method compiles the model and no target of export holds it, or None."""
        if self.vectors.increasing:
            return None
        return (
            "indices of a support vector that do not increase found: fastsvm predict answers as svm-predict does, but"
            " this model cannot be compiled or exported; write it again with sorted indices"
        )

    def with_header(self, header: "_native.Header") -> "ExactModel":
        """Return a new model with another header."""
        file = _native.LibsvmFile(
            header,
            self.vectors,
            self.kernel,
            fingerprint=self.fingerprint or "",
            origin=self.origin,
            folded=self.folded,
        )
        return ExactModel(file, self.path)

    def plain(self) -> "ExactModel":
        """Return the model without the line that fastsvm adds at the end of a LIBSVM model, if it has one."""
        return self if self.fingerprint is None else ExactModel(self.file.plain(), self.path)


def center_point(mean: "list[float]", low: "list[float]", high: "list[float]") -> "list[float]":
    """Return an expansion's center, `mean` rounded to 1/10,000 of each range or finer, for a short file."""
    out = []
    for value, least, most in zip(mean, low, high):
        spread = most - least
        value = min(max(value, least), most)
        out.append(round(value, 4 - floor(log10(spread))) if 0 < spread < inf else value)
    return out


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

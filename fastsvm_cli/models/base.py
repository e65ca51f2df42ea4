"""Models: the core's object (native/engine/model_file.h), and what only Python needs."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fastsvm_cli import _native
from fastsvm_cli._native import Precision as Precision

if TYPE_CHECKING:
    from fastsvm_cli.models.embedded_scaling import EmbeddedScaling
    from fastsvm_cli.text.scaling import Scaling


#: Default of decision_values.
LABELS = Precision.labels()
#: Its public name.
Wanted = Precision


class Model:
    """A kernel machine, exact or compiled.

    file                the core's object; a model has its attributes, also those of its kind alone
    path                its name in messages
    kind                name in its file's first line; LIBSVM for LIBSVM's format
    fingerprint         of the exact model's file or the training rows; None for a plain LIBSVM model

    notes               (line, text) of what LIBSVM reads in its file, and the file's writer may not have meant

    Independent capabilities:

    proves              labels are svm-predict's, and reference_values gives svm-predict's numbers, for its own file if
                        that is a LIBSVM model, else for the exact model's
    certified           bounds |value - the exact model's value| in Decisions.radius
    ordered             may stop early on a row; counts kernel evaluations in Decisions.evaluations

    Data:

    vectors             support vectors, if it holds all
    features            increasing LIBSVM indices, the columns of its vectors; () for a kind that holds rows
    centers             of expansions; with an RBF kernel, Decisions.outside counts rows outside the bound of Claesen et
                        al., eq. (3.11)
    folded              scaling that its numbers include (_native.FoldedScaling)
    embedded_scaling    scaling that it applies to raw rows
    max_index           largest index, 0 if none; for a precomputed kernel the largest serial number
    first_index         LIBSVM index of column 0 of dense rows: 0 if the model or its range knows it, else 1
    columns             of a dense row that holds all known features
    used_indices        LIBSVM indices of its numbers
    pairs               number of decision functions
    serials             rows are a precomputed kernel's: 0:serial, then a kernel value per training row
    nbytes              approximate size in memory
    bounded             eq. (3.11) holds of its centers; judged_by_bound: and only that, for degree 2, of its values'
                        errors
    raw_rows            why it takes raw rows, as the end of a sentence, or None
    unbounded           message of `fastsvm bound` for a model without vectors, centers or radii

    It has these methods:

    to_text             return the file's content
    decision_values     fill `out`, at least as precisely as `requested`; raises RowError
    reference_values    if it proves: use LIBSVM's order of operations, bit for bit; raises RowError
    stopped_after       return a model that uses only the first `steps` points; None for most kinds
    decisions           return the object to fill; for labels alone it may hold a winner instead of values

    Decisions.value and radius are (rows, pairs) float64, rho subtracted, pairs in LIBSVM's order 0/1, 0/2, ..., 1/2,
    .... Unknown features count only in chunk.squared_norms. A row's values do not depend on other rows.
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
        """One object, which FeatureSpace recognizes."""
        return self.file.vectors

    @property
    def embedded_scaling(self) -> "EmbeddedScaling | None":
        """Embedded scaling, or None."""
        return self._embedded_scaling

    @embedded_scaling.setter
    def embedded_scaling(self, embedded_scaling: "EmbeddedScaling | None") -> None:
        """Embedded scaling, or None."""
        self._embedded_scaling = embedded_scaling
        self.file.embed(*(((), None) if embedded_scaling is None else (embedded_scaling.texts, embedded_scaling.whole)))

    @property
    def native(self) -> "_native.Model":
        """The core's evaluation."""
        return self.file.model()

    @property
    def columns(self) -> int:
        """Number of columns of a row, from `first_index` on."""
        return self.max_index + 1 - self.first_index

    def row_scaling(self) -> "Scaling | None":
        """Return the scaling for one reading of text."""
        return None if self.embedded_scaling is None else self.embedded_scaling.scaling()

    def answer(self, decisions: _native.Decisions) -> None:
        """Convert values and radii to the unit of raw labels."""
        if self.embedded_scaling is not None:
            self.embedded_scaling.answer(decisions)

    @property
    def reduced(self) -> bool:
        """Whether it is a reduced set, whose probability parameters may differ from the exact model's."""
        return self.proves and self.certified

    @property
    def holds_exact(self) -> bool:
        """Whether the model holds its exact model."""
        return hasattr(self.file, "exact")

    @property
    def exact(self) -> "ExactModel":
        """The LIBSVM model that an ordered one, or a cascade, holds."""
        return ExactModel(self.file.exact, self.path)

    def to_text(self) -> bytes:
        """Return the model file's content."""
        return self.file.to_text()

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, requested: Precision = LABELS) -> None:
        """Compute the decision values of a chunk, in the requested precision."""
        self.native.decision_values(chunk, requested, out)

    def reference_values(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        """Compute the decision values of a chunk by LIBSVM's own sums."""
        self.native.reference_values(chunk, out)

    def stopped_after(self, steps: int) -> "Model | None":
        """Return an ordered model that stops after these steps, or None for other kinds."""
        engine = self.file.stopped_after(steps)
        return None if engine is None else _StoppedModel(self, engine)

    def decisions(self, requested: Precision, with_radius: bool = False) -> _native.Decisions:
        """Return memory for decision values, and for radii if requested."""
        return self.native.decisions(requested, with_radius)


class ExactModel(Model):
    """A LIBSVM model, as svm-train writes it, or a reduced set (`origin`), or with scaling folded in.

    Its radii bound rounding errors only, or the distance from the origin.
    """

    @property
    def uncompilable(self) -> "str | None":
        """Why no method compiles it, and no target of export holds it."""
        if self.vectors.increasing:
            return None
        return (
            "indices of a support vector that do not increase found: fastsvm predict answers as svm-predict does, but"
            " this model cannot be compiled or exported; write it again with sorted indices"
        )

    def with_header(self, header: "_native.Header") -> "ExactModel":
        """Return the model with another header."""
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
        """Return the model without fastsvm's last line."""
        return self if self.fingerprint is None else ExactModel(self.file.plain(), self.path)


class _StoppedModel(Model):
    """A geometry model that uses only its first points. Value and radius are the interval's middle and half width."""

    proves = False
    certified = True

    def __init__(self, whole: Model, engine: "_native.Model"):
        super().__init__(whole.file, whole.path)
        self._embedded_scaling, self._stopped = whole.embedded_scaling, engine

    @property
    def native(self) -> "_native.Model":
        return self._stopped

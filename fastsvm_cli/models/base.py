"""Base class of models."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli.models.wanted import LABELS, Wanted
from fastsvm_cli.text.checksum import seal_compiled
from fastsvm_cli.text.header import Header

if TYPE_CHECKING:
    from fastsvm_cli.models.carried import Carried
    from fastsvm_cli.models.centers import Center
    from fastsvm_cli.models.folded import Folded
    from fastsvm_cli.text.scaling import Scaling


class Model:
    """A kernel machine, exact or compiled (models.MODEL_TYPES).

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
    folded, carried     scaling that its numbers include (folded.py), or that it applies to raw rows (carried.py)
    max_index           largest index, 0 if none; for a precomputed kernel the largest serial number
    first_index         LIBSVM index of column 0 of dense rows: 0 if the model or its range knows it, else 1
    columns             of a dense row that holds all known features
    used_indices        LIBSVM indices of its numbers
    serials             rows are a precomputed kernel's: 0:serial, then a kernel value per training row
    nbytes              approximate size in memory
    unbounded           message of `fastsvm bound` for a model without vectors, centers or radii

    Methods:

    parse               read the text that _native.open_compiled returns; raises ModelFormatError
    to_text             return the file's content, through `sealed` if compiled
    make_native         return the core's model, which evaluates rows
    decision_values     fill `out`, at least as precisely as `wanted`; raises RowError
    reference_values    if it proves: use LIBSVM's order of operations, bit for bit; raises RowError
    stopped_after       optional: return a model that uses only the first `steps` points
    decisions           return the object to fill; for labels alone it may hold a winner instead of values

    Decisions.value and radius are (rows, pairs) float64, rho subtracted, pairs in LIBSVM's order 0/1, 0/2, ..., 1/2,
    .... Unknown features count only in chunk.squared_norms. A row's values do not depend on other rows."""

    kind: str
    header: Header
    fingerprint: "str | None" = None
    notes: "Sequence[tuple[int, str]]" = ()
    proves = False
    certified = False
    ordered = False
    vectors: "_native.Chunk | None" = None
    features: "Sequence[int]" = ()
    centers: "list[Center] | None" = None
    folded: "Folded | None" = None
    carried: "Carried | None" = None
    _engine: "_native.Model | None" = None

    @property
    def native(self) -> "_native.Model":
        if self._engine is None:
            self._engine = self.make_native()
        self._engine.labels_back = None if self.carried is None else self.carried.labels_back
        return self._engine

    def make_native(self) -> "_native.Model":
        """Return the core's model; called once."""
        raise NotImplementedError

    @property
    def serials(self) -> bool:
        return False

    @property
    def max_index(self) -> int:
        of_vectors = 0 if self.vectors is None else self.vectors.max_index
        of_rows = self.carried.max_index if self.carried is not None else 0
        return max((of_vectors, of_rows, *self.features[-1:]))

    @property
    def used_indices(self) -> "Sequence[int]":
        return self.features if self.vectors is None else _native.used_indices(self.vectors)

    @property
    def first_index(self) -> int:
        return _native.first_index(self.used_indices, None if self.carried is None else self.carried.native)

    @property
    def columns(self) -> int:
        return self.max_index + 1 - self.first_index

    @property
    def nbytes(self) -> int:
        return 0 if self.vectors is None else self.vectors.values.nbytes + self.vectors.indices.nbytes

    @property
    def unbounded(self) -> str:
        return f"a {self.kind} model found, which has no expansion to bound: name the exact model"

    @property
    def pairs(self) -> int:
        return self.header.pairs

    @property
    def bounded(self) -> bool:
        return self.centers is not None and self.header.kernel_type == "rbf"

    @property
    def judged_by_bound(self) -> bool:
        """Whether only eq. (3.11), for degree 2, judges its values' errors."""
        return self.bounded and not self.certified and getattr(self, "degree", 2) == 2

    @property
    def raw_rows(self) -> "str | None":
        """Why it takes raw rows, as the end of a sentence."""
        return _native.raw_rows_because(self.carried is not None, self.folded is not None) or None

    def row_scaling(self) -> "Scaling | None":
        """Return the scaling for one reading of text."""
        return None if self.carried is None else self.carried.scaling()

    def answer(self, decisions: _native.Decisions) -> None:
        """Convert values and radii to the unit of raw labels."""
        if self.carried is not None:
            self.carried.answer(decisions)

    @property
    def reduced(self) -> bool:
        """Whether it is a reduced set, whose probability parameters may differ from the exact model's."""
        return self.proves and self.certified

    @classmethod
    def parse(cls, text: bytes, path: str) -> "Model":
        raise NotImplementedError

    def to_text(self) -> bytes:
        raise NotImplementedError

    def sealed(self, parts: "list[bytes]") -> bytes:
        """Return the file. parts: content between the first line and the carried range."""
        return seal_compiled(self.kind, parts, () if self.carried is None else self.carried.texts)

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, wanted: Wanted = LABELS) -> None:
        self.native.decision_values(chunk, wanted, out)

    def reference_values(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        self.native.reference_values(chunk, out)

    def stopped_after(self, steps: int) -> "Model | None":
        return None

    def decisions(self, wanted: Wanted, with_radius: bool = False) -> _native.Decisions:
        return self.native.decisions(wanted, with_radius)

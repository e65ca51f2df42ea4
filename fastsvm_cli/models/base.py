"""The contract of a model."""

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
    """A kernel machine, exact or compiled, that computes the decision values of a chunk of rows.

    To add a kind of model, write a class with the following members and add one line to models.MODEL_TYPES.

    Identity:

    kind: str           name in the first line of its file, `fastsvm_model <kind>`; LIBSVM for LIBSVM's own format
    header: Header      LIBSVM's keys: svm_type, labels, rho, probability parameters
    fingerprint         of the exact model's file, or the training rows, that it was made from; None for an exact model

    Capabilities, independent of each other, False by default:

    proves: bool        its decision values always give svm-predict's label (for its own file if that is a LIBSVM model,
                        else for the exact model's), and reference_values gives svm-predict's numbers
    certified: bool     it was compiled, and if radii are requested it fills Decisions.radius with bounds of
                        |value - the exact model's value|
    ordered: bool       it stops early on some rows and counts the kernel evaluations of all (Decisions.evaluations)

    Data, None by default unless noted:

    vectors             native Chunk of the support vectors, if it holds them all
    features            increasing LIBSVM indices, the columns of its vectors; () for a kind that holds rows
    centers             list of its expansion centers; with an RBF kernel the model counts the rows outside their bound,
                        Claesen et al., eq. (3.11) (Decisions.outside)
    folded              scaling folded into it or into the LIBSVM model it was compiled from (models/folded.py): it
                        takes raw rows
    carried             range file that it carries (models/carried.py): the code that makes rows for it scales them
    max_index: int      largest LIBSVM index of a feature that its rows may have, 0 if none; for a precomputed kernel
                        the largest serial number
    used_indices        list of the LIBSVM indices of its own numbers
    serials: bool       rows are those of a precomputed kernel: 0:serial, then a kernel value per training row
    nbytes: int         approximate size of its numbers in memory
    unbounded: str      message of `fastsvm bound` for a model without vectors, centers or radii; there is a default

    Methods:

    parse(text, path)   class method: return the model in a file's content (of a compiled model, as
                        _native.open_compiled returns it); raises ModelFormatError
    to_text() -> bytes  return the file's content, made by `sealed` for a compiled model; models.parse_model
                        must restore the same model from it

    decision_values(chunk, out, wanted=LABELS)
        Fill `out` for the rows of `chunk`, at least as precisely as `wanted` demands. out: native Decisions; value:
        (rows, pairs) float64 with rho already subtracted, pairs in LIBSVM's order 0/1, 0/2, ..., 1/2, ...; radius:
        likewise. A native model passes both to the core; a numpy model calls out.resize(chunk.rows) and fills
        numpy.asarray(out.value). Features unknown to the model add nothing to an inner product, but their squares count
        in chunk.squared_norms. A row's values may depend on that row only, never on its neighbours. Raises RowError.

    Optional methods:

    reference_values(chunk, out)
        For a model that proves: compute decision values in LIBSVM's order of operations, bit for bit; slower. Raises
        RowError.
    stopped_after(steps) -> Model
        Return a model that uses only the first `steps` points; None if the kind has no such model.
    decisions(wanted, with_radius=False) -> Decisions
        Return the object for decision_values to fill, with or without radii. If labels alone are wanted, a kind that
        finds each row's class without all decision values may return one that holds a winner instead of values.

    Votes, labels, probabilities, lines and scores are computed from decision values elsewhere and need nothing more.
    Code outside models/ never tests a model's class: a command that compiles a LIBSVM model gets it from
    models.parse_libsvm.
    """

    kind: str
    header: Header
    fingerprint: "str | None" = None
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
        """The core's model, which evaluates this one."""
        if self._engine is None:
            self._engine = self.make_native()
        self._engine.labels_back = None if self.carried is None else self.carried.labels_back
        return self._engine

    def make_native(self) -> "_native.Model":
        """Return the core's model, in place of decision_values, reference_values and decisions.

        For kinds that the core evaluates. Called once, on the first thread that needs it."""
        return _native.PythonModel(self, self.header)

    @property
    def serials(self) -> bool:
        return False

    @property
    def max_index(self) -> int:
        of_vectors = 0 if self.vectors is None else self.vectors.max_index
        of_rows = self.carried.max_index if self.carried is not None else 0
        return max((of_vectors, of_rows, *self.features[-1:], *(self.folded.features[-1:] if self.folded else ())))

    @property
    def used_indices(self) -> "Sequence[int]":
        return self.features if self.vectors is None else _native.used_indices(self.vectors)

    @property
    def nbytes(self) -> int:
        return 0 if self.vectors is None else self.vectors.values.nbytes + self.vectors.indices.nbytes

    @property
    def unbounded(self) -> str:
        """Message of `fastsvm bound` for a model that has no bound."""
        return f"a {self.kind} model found, which has no expansion to bound: name the exact model"

    @property
    def pairs(self) -> int:
        """Number of decision functions: one per pair of classes, or one."""
        return self.header.pairs

    @property
    def bounded(self) -> bool:
        """Whether it counts rows outside a bound."""
        return self.centers is not None and self.header.kernel_type == "rbf"

    @property
    def judged_by_bound(self) -> bool:
        """Whether the bound of eq. (3.11) is all that is known of the distance of its values from the exact model's.

        False with radii, and for another degree than 2, the bound's."""
        return self.bounded and not self.certified and getattr(self, "degree", 2) == 2

    @property
    def raw_rows(self) -> "str | None":
        """Reason why it takes raw rows, as the end of a sentence; None if it takes rows scaled as in training."""
        return _native.raw_rows_because(self.carried is not None, self.folded is not None) or None

    def row_scaling(self) -> "Scaling | None":
        """Return the scaling for rows read from text, with its own counts; None if rows are used as they are."""
        return None if self.carried is None else self.carried.scaling()

    def answer(self, decisions: _native.Decisions) -> None:
        """Convert decision values and radii to the unit of raw labels, if it carries a range of y."""
        if self.carried is not None:
            self.carried.answer(decisions)

    def own_rows(self, chunk: _native.Chunk) -> _native.Chunk:
        """Return the rows in the model's own coordinates: `chunk`, multiplied by the slopes of folded scaling if any.

        Raises RowError."""
        return chunk if self.folded is None else self.folded.rows(chunk)

    @property
    def reduced(self) -> bool:
        """Whether it is a LIBSVM model that proves its own labels and also has radii about another model.

        Its probability parameters may then differ from the exact model's."""
        return self.proves and self.certified

    @classmethod
    def parse(cls, text: bytes, path: str) -> "Model":
        raise NotImplementedError

    def to_text(self) -> bytes:
        raise NotImplementedError

    def sealed(self, parts: "list[bytes]") -> bytes:
        """Return the file of a compiled model. parts: its content after the first line, without the carried range."""
        return seal_compiled(self.kind, parts, () if self.carried is None else self.carried.texts)

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, wanted: Wanted = LABELS) -> None:
        self.native.decision_values(chunk, wanted, out)

    def reference_values(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        self.native.reference_values(chunk, out)

    def stopped_after(self, steps: int) -> "Model | None":
        return None

    def decisions(self, wanted: Wanted, with_radius: bool = False) -> _native.Decisions:
        return self.native.decisions(wanted, with_radius)

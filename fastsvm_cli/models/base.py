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
    """A kernel machine, exact or compiled: it answers a chunk of rows with decision values.

    To add a kind of model, write a class with the following, and one line in models.MODEL_TYPES.

    What it is:

    kind: str           its name in the first line of its file, `fastsvm_model <kind>`; LIBSVM for LIBSVM's own
    header: Header      the LIBSVM keys: svm_type, labels, rho, probability parameters
    fingerprint         of the exact model's file that it was compiled from; None: it is an exact model itself

    What it can do, each independent of the others and False unless it is said:

    proves: bool        its decision values always decide svm-predict's label (for its own file, if that is a LIBSVM
                        model, else for the exact model's), and reference_values gives svm-predict's numbers
    certified: bool     it was compiled, and asked for radii it fills Decisions.radius with bounds of
                        |value - the exact model's|
    ordered: bool       it stops early on some rows and counts the kernel evaluations of all (Decisions.evaluations)

    What it holds, each None unless it is said:

    vectors             native Chunk of the support vectors, if it holds them all
    features            increasing LIBSVM indices, the columns of every vector in it; () of a kind that holds rows
    centers             list of the centers of its expansions; of an RBF kernel it counts the rows outside their bound,
                        Claesen et al., eq. (3.11) (Decisions.outside)
    folded              the scaling that is folded into it, or into the LIBSVM model that it was compiled from
                        (models/folded.py): it takes raw rows
    carried             the range file that it carries (models/carried.py): whoever makes rows for it scales them
    max_index: int      the largest LIBSVM index of a feature that a row may have for it, 0 if none; of a precomputed
                        kernel the largest serial
    used_indices        list of the LIBSVM indices of its own numbers
    serials: bool       rows are those of a precomputed kernel: 0:serial, then a kernel value per training row
    nbytes: int         of its numbers in memory, about
    unbounded: str      what `fastsvm bound` says of a model with neither, and no radii; there is a sentence for any

    What it does:

    parse(text, path)   class method: the model in a file's content, a compiled model's as checksum.open_compiled
                        gives it; raises ModelFormatError
    to_text() -> bytes  the file's content, a compiled model's from `sealed`; models.parse_model makes the same model of
                        it

    decision_values(chunk, out, wanted=LABELS)
        Fill `out` (native Decisions; value: (rows, pairs) float64, pairs in LIBSVM's order 0/1, 0/2, ..., 1/2, ...; rho
        is subtracted already; radius likewise) for the rows of `chunk`, at least as precisely as is wanted. A native
        model passes both to the core; a numpy model calls out.resize(chunk.rows) and fills numpy.asarray(out.value).
        Features beyond those the model knows add nothing to an inner product, but their squares count in
        chunk.squared_norms. A row's values may depend on that row alone, never on its neighbours. Raises RowError.

    and where it can:

    reference_values(chunk, out)
        Of a model that proves: decision values in LIBSVM's own order of operations, bit for bit; slower. Raises
        RowError.
    stopped_after(steps) -> Model
        The model that answers from so many points alone; None of a kind that cannot.
    decisions(wanted, with_radius=False) -> Decisions
        What decision_values is to fill: values, with radii or without. A kind that can tell each row's class without
        all decision values makes other ones where labels alone are wanted: a winner in place of values.

    Everything after decision values (votes, labels, probabilities, lines, scores) is written once, elsewhere, and
    needs nothing more. Nobody outside models/ asks for a model's class: a command that
    compiles a LIBSVM model has it of models.parse_libsvm.
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
        """What the core evaluates it by."""
        if self._engine is None:
            self._engine = self.make_native()
        self._engine.labels_back = None if self.carried is None else self.carried.labels_back
        return self._engine

    def make_native(self) -> "_native.Model":
        """The core's model, in place of decision_values, reference_values and decisions: of the kinds that the core
        evaluates. Called once, by the thread that needs it first."""
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
        """The sentence for a model that `fastsvm bound` can say nothing of."""
        return f"a {self.kind} model found, which has no expansion to bound: name the exact model"

    @property
    def pairs(self) -> int:
        """Decision functions: one per pair of classes, or one."""
        return self.header.pairs

    @property
    def bounded(self) -> bool:
        """Whether it counts rows outside a bound."""
        return self.centers is not None and self.header.kernel_type == "rbf"

    @property
    def judged_by_bound(self) -> bool:
        """Whether that bound is all that is known of how near its values are to the exact model's: not where it has
        radii, and not where it is of another degree than 2, the bound's."""
        return self.bounded and not self.certified and getattr(self, "degree", 2) == 2

    @property
    def raw_rows(self) -> "str | None":
        """Why it takes raw rows, as the end of a sentence; None if it takes rows as its training scaled them."""
        return _native.raw_rows_because(self.carried is not None, self.folded is not None) or None

    def row_scaling(self) -> "Scaling | None":
        """How rows of text become the rows that it answers, with counts of its own; None: they are as they are."""
        return None if self.carried is None else self.carried.scaling()

    def answer(self, decisions: _native.Decisions) -> None:
        """Convert decision values and radii to the unit of raw labels, if it carries a range of y."""
        if self.carried is not None:
            self.carried.answer(decisions)

    def own_rows(self, chunk: _native.Chunk) -> _native.Chunk:
        """The rows that its numbers are about: `chunk`, or, where scaling is folded in, that multiplied by the slopes.
        Raises RowError."""
        return chunk if self.folded is None else self.folded.rows(chunk)

    @property
    def reduced(self) -> bool:
        """Whether it is a LIBSVM model by itself, whose labels it proves, and compiled all the same, with radii about
        another: its probability parameters may be other than the exact model's."""
        return self.proves and self.certified

    @classmethod
    def parse(cls, text: bytes, path: str) -> "Model":
        raise NotImplementedError

    def to_text(self) -> bytes:
        raise NotImplementedError

    def sealed(self, parts: "list[bytes]") -> bytes:
        """The file of a compiled model. parts: its content after the first line, without the range it carries."""
        return seal_compiled(self.kind, parts, () if self.carried is None else self.carried.texts)

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, wanted: Wanted = LABELS) -> None:
        self.native.decision_values(chunk, wanted, out)

    def reference_values(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        self.native.reference_values(chunk, out)

    def stopped_after(self, steps: int) -> "Model | None":
        return None

    def decisions(self, wanted: Wanted, with_radius: bool = False) -> _native.Decisions:
        return self.native.decisions(wanted, with_radius)

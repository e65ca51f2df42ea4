"""Exact models: what svm-train writes."""

from _thread import allocate_lock
from array import array
from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError, RowError
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.kernel import KERNELS, Kernel
from fastsvm_cli.models.wanted import LABELS, Wanted
from fastsvm_cli.text.body import Body
from fastsvm_cli.text.header import Header, read_libsvm_header

if TYPE_CHECKING:
    from fastsvm_cli.models.folded import Folded


class ExactModel(Model):
    """A LIBSVM model: every svm_type, every kernel, any number of classes.

    vectors: native Chunk of the support vectors; its `leading` numbers are the coefficients, (total_sv, nr_class - 1),
    in LIBSVM's order. kernel: the header's, unless the model was trained through a precomputed kernel and was given the
    vectors behind it, with the kernel to evaluate on them. path: of its file, for messages.

    The radius of a decision value, where it is asked for, is that of rounding alone.
    """

    kind = "LIBSVM"
    vectors: _native.Chunk
    proves = True  # rounding near a threshold sends a row to the reference sum

    def __init__(self, header: Header, vectors: _native.Chunk, path: str = "model", kernel: "Kernel | None" = None):
        self.header, self.vectors, self.path = header, vectors, path
        self.kernel = kernel or Kernel(header.kernel_type, header.gamma, header.coef0, header.degree)
        self._evaluator: _native.Exact | None = None
        self._lock = allocate_lock()

    @property
    def inheritance(self) -> "Folded | None":
        """What a model that is compiled from it has of scaling: the mark that it takes raw rows, too, or None."""
        return None if self.folded is None else self.folded.passed_on()

    @classmethod
    def parse(cls, text: bytes, path: str) -> "ExactModel":
        header, vectors, body = read_libsvm(text, path)
        if text[body.at :].strip():
            body.fail(f"text found after the {header.total_sv} support vectors that total_sv announces", body.at)
        if header.kernel_type == "precomputed":
            vectors = _serials(vectors, path, body.line() - vectors.rows)
        return cls(header, vectors, path)

    def to_text(self) -> bytes:
        """LIBSVM's own format, every number the shortest text that reads back to it."""
        return self.header.lines().encode() + b"SV\n" + _native.format_rows(self.vectors)

    @property
    def serials(self) -> bool:
        return self.kernel.type == "precomputed"

    @property
    def max_index(self) -> int:
        return self._largest_serial() if self.serials else self.vectors.max_index

    @property
    def svm_model(self) -> _native.SvmModel:
        """What the native core evaluates."""
        header, kernel = self.header, self.kernel
        return _native.SvmModel(
            kernel=KERNELS.index(kernel.type),
            gamma=kernel.gamma,
            coef0=kernel.coef0,
            degree=kernel.degree,
            regression=header.regression,
            nr_sv=header.nr_sv or [header.total_sv],
            rho=header.rho,
            vectors=self.vectors,
        )

    @property
    def evaluator(self) -> _native.Exact:
        with self._lock:  # it may take seconds, and much memory: once, whichever thread needs it first
            if self._evaluator is None:
                self._evaluator = _native.Exact(self.svm_model)
            return self._evaluator

    def decisions(self, wanted: Wanted, with_radius: bool = False) -> _native.Decisions:
        return _native.Decisions(
            self.pairs, with_radius, self.header.elects and wanted.labels_alone and not with_radius
        )

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, wanted: Wanted = LABELS) -> None:
        precise = self.header.regression or not wanted.labels_alone
        self._demand_serials(self.evaluator.decision_values(chunk, precise, wanted.sides or [], wanted.odds, out))

    def plain(self) -> "ExactModel":
        """The model by itself: a reduced set's without what it came from."""
        return self

    def reference_values(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        self._demand_serials(self.evaluator.reference_sums(chunk, out))

    def _demand_serials(self, row: int) -> None:
        """row: the first one of a precomputed kernel without the serials it needs, or -1."""
        if row >= 0:
            raise RowError(
                row,
                f"a row without the serials 0 to {self._largest_serial()} found, expected every one of them: the kernel"
                " is precomputed",
            )

    def _largest_serial(self) -> int:
        return max(map(int, self.vectors.values), default=0)


def read_libsvm(text: bytes, path: str) -> "tuple[Header, _native.Chunk, Body]":
    """The header and the support vectors of a LIBSVM model, and where they end. Raises ModelFormatError."""
    header, offset = read_libsvm_header(text, path)
    body = Body(text, path, offset)
    return header, body.vectors(header), body


def _serials(vectors: _native.Chunk, path: str, first_line: int) -> _native.Chunk:
    """The support vectors of a precomputed kernel, each as `0:serial`. LIBSVM takes the serial from a vector's first
    entry, whatever its index and whatever follows, and truncates it. Raises ModelFormatError."""
    starts, values = vectors.indptr, vectors.values
    serials = array("d")
    for row in range(vectors.rows):
        at = starts[row]
        if starts[row + 1] == at or not -1 < values[at] < 2**31:
            raise ModelFormatError(
                path,
                "a support vector without a serial found, expected 0:serial: the kernel is precomputed",
                first_line + row,
            )
        serials.append(int(values[at]))
    ends = array("q", range(vectors.rows + 1))
    return _native.Chunk.from_csr(vectors.leading, ends, array("i", bytes(4 * vectors.rows)), serials)

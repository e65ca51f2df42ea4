"""Exact models: what svm-train writes."""

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError, RowError
from fastsvm_cli.header import KERNEL_TYPES, Header, read_header
from fastsvm_cli.models.base import Model


class ExactModel(Model):
    """A LIBSVM model: every svm_type, every kernel, any number of classes.

    vectors: native Chunk of the support vectors; its labels are the coefficients, (total_sv, nr_class - 1), in LIBSVM's order.
    """

    proves = True  # rounding near a threshold sends a row to the reference sum

    def __init__(self, header: Header, vectors: _native.Chunk, path: str = "model"):
        self.header, self.vectors, self.path = header, vectors, path
        self._evaluator = None

    @classmethod
    def parse(cls, text: bytes, path: str) -> "ExactModel":
        header, _, offset, line = read_header(text, path, end=b"SV")
        # The last row ends in a line end, or the file was cut off inside it and nothing else would show it.
        whole = text.rfind(b"\n") + 1
        body = text if whole == len(text) else text[:whole]
        vectors, fault, _, rest = _native.parse(body, first_line=line + 1, leading=header.nr_class - 1, offset=offset, max_rows=header.total_sv, leading_name="a coefficient")
        if fault is not None:
            raise ModelFormatError(path, fault[1], fault[0])
        if vectors.rows < header.total_sv:
            where = "the last one is cut off" if whole < len(text) else "the file ends"
            raise ModelFormatError(path, f"{vectors.rows} support vectors found, expected {header.total_sv}: {where}", line + 1 + vectors.rows)
        if text[rest:].strip():
            raise ModelFormatError(path, f"text found after the {header.total_sv} support vectors that total_sv announces", line + 1 + vectors.rows)
        if header.kernel_type == "precomputed":
            _check_serials(vectors, path, line + 1)
        return cls(header, vectors, path)

    def to_text(self) -> bytes:
        """LIBSVM's own format, every number the shortest text that reads back to it."""
        return self.header.lines().encode() + b"SV\n" + _native.format_rows(self.vectors)

    @property
    def evaluator(self) -> _native.Exact:
        if self._evaluator is None:
            header = self.header
            self._evaluator = _native.Exact(
                kernel=KERNEL_TYPES.index(header.kernel_type),
                gamma=header.gamma,
                coef0=header.coef0,
                degree=header.degree,
                regression=header.regression,
                nr_sv=header.nr_sv or [header.total_sv],
                rho=header.rho,
                vectors=self.vectors,
            )
        return self._evaluator

    def decision_values(self, chunk, out, until=None):
        row = self.evaluator.decision_values(chunk, until is not None or self.header.regression, until or [], out)
        if row >= 0:
            raise RowError(row, f"a row without the serials 0 to {self._largest_serial()} found, expected every one of them: the kernel is precomputed")

    def reference_values(self, chunk, out):
        self.evaluator.reference_sum(chunk, out)

    def _largest_serial(self) -> int:
        return max(map(int, self.vectors.values), default=0)


def _check_serials(vectors: _native.Chunk, path: str, first_line: int) -> None:
    """A support vector of a precomputed kernel is `0:serial`."""
    starts, indices, values = vectors.indptr, vectors.indices, vectors.values
    for row in range(vectors.rows):
        at = starts[row]
        if starts[row + 1] != at + 1 or indices[at] != 0 or values[at] != int(values[at]) or not 0 <= values[at] < 2**31:
            raise ModelFormatError(path, "a support vector without a serial found, expected 0:serial: the kernel is precomputed", first_line + row)

"""What ordered models share: all the support vectors of the exact model, evaluated in an order that lets a row stop
as soon as what is left of its sum cannot change the answer; rows that never stop are evaluated exactly."""

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.folded import INHERITED_KEY, Folded
from fastsvm_cli.models.kernel import OWN_KERNELS, Kernel
from fastsvm_cli.models.wanted import LABELS, Wanted
from fastsvm_cli.text.body import read_compiled
from fastsvm_cli.text.header import real_number, whole_number

#: What is said of a model that was trained through a precomputed kernel, before it is given the vectors behind it.
WITHOUT_VECTORS = "a precomputed kernel found: name its vectors with --vectors and its kernel with --kernel"


class OrderedModel(Model):
    """A LIBSVM model and an order of its support vectors.

    exact: the LIBSVM model, whole. fingerprint: of its file.

    A kind of ordered model adds

    ordered_by: str
        What a summary says of the order.
    settle(chunk, task, tolerance, out) -> list of rows
        Fill `out` with values and radii, each row's as soon as its answer is settled (of a regression model: its value,
        to within `tolerance`), and count out.evaluations. Returns the rows of the chunk that are not settled.

    Kernel evaluations are counted as often as they are done: a row that is not settled is then evaluated in full, which
    computes the kernel values of its first vectors once more, and where rounding leaves even that open, once again in
    LIBSVM's own order of operations.
    """

    proves = True
    ordered = True

    def __init__(self, exact: ExactModel, fingerprint: str):
        self.exact, self.header, self.fingerprint = exact, exact.header, fingerprint
        self.vectors, self.folded = exact.vectors, exact.inheritance
        self._task = self.header.task()

    @property
    def ordered_by(self) -> str:
        raise NotImplementedError

    def settle(self, chunk: _native.Chunk, task: _native.Task, tolerance: float, out: _native.Decisions) -> "list[int]":
        raise NotImplementedError

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, wanted: Wanted = LABELS) -> None:
        if wanted.in_full(self.header.regression):
            self._exact_values(chunk, out, wanted)
            return
        tolerance = wanted.tolerance
        left = self.settle(chunk, self._task, tolerance or 0.0, out)
        if not left:
            return
        part = chunk.select(left)
        if tolerance is None and self.header.elects and out.radius is None:
            # Their labels alone, by the cheapest rung of the exact evaluation that tells them.
            winners = _native.Decisions(self.pairs, False, True)
            self._exact_values(part, winners, wanted)
            out.elect(left, winners)
            return
        again = _native.Decisions(self.pairs, True)
        if tolerance is None:
            self._exact_values(part, again, wanted)
        else:
            self.exact.evaluator.fast_values(part, again)
            # What the rounding of the fast evaluation leaves open goes to LIBSVM's own order of operations.
            far = [row for row in range(part.rows) if not again.radius[row, 0] <= tolerance]
            if far:
                only = _native.Decisions(self.pairs)
                self.reference_values(part.select(far), only)
                only.reference_rows = len(far)
                again.put(far, only)
            again.count(self.header.total_sv)
        out.put(left, again)

    def reference_values(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        self.exact.reference_values(chunk, out)
        out.count(self.header.total_sv)

    def _exact_values(self, chunk: _native.Chunk, out: _native.Decisions, wanted: Wanted) -> None:
        self.exact.decision_values(chunk, out, wanted)
        out.count(self.header.total_sv)

    def file_of(self, lines: str, *rest: bytes) -> bytes:
        """The content of the model's file. lines: the kind's own keys. rest: what follows the support vectors."""
        kernel = self.exact.kernel
        own = (
            [f"kernel {kernel.type} {' '.join(repr(getattr(kernel, key)) for key in OWN_KERNELS[kernel.type])}\n"]
            if kernel.type in OWN_KERNELS
            else []
        )
        raw_rows = "" if self.folded is None else self.folded.lines()
        head = "".join([self.header.lines(), *own, f"fingerprint {self.fingerprint}\n", raw_rows, lines, "SV\n"])
        return self.sealed([head.encode(), _native.format_rows(self.exact.vectors), *rest])


class OrderedFile:
    """An ordered model's file, read up to what its kind adds.

    exact: the LIBSVM model. fingerprint: of its file. own: the kind's own keys. vectors: native Chunk of the support
    vectors, and of the rows like them that own["nr_folded"] announces where the kind has that key. body: what stands
    behind them, not read yet. Raises ModelFormatError."""

    def __init__(self, text: bytes, path: str, own_keys: "tuple[str, ...]" = ()):
        keys = ("fingerprint", *own_keys)
        header, self.own, self.body = read_compiled(text, path, end="SV", keys=keys, optional=("kernel", INHERITED_KEY))
        folded = self.own.whole("nr_folded", 0) if "nr_folded" in self.own else 0
        self.fingerprint = self.own.word("fingerprint")
        kernel = _read_kernel(*self.own.words("kernel"), path) if "kernel" in self.own else None
        if (kernel is not None) != (header.kernel_type == "precomputed"):
            why = (
                "a line 'kernel' found"
                if kernel
                else "the header ends without 'kernel', which a precomputed kernel needs"
            )
            self.body.fail(why, self.body.at - 1)
        self.vectors = self.body.vectors(header, folded)
        vectors = self.vectors.select(list(range(header.total_sv))) if folded else self.vectors
        self.exact = ExactModel(header, vectors, path, kernel)
        self.exact.folded = Folded.read(self.own, path)


def _read_kernel(words: "list[str]", line: int, path: str) -> Kernel:
    if not words or words[0] not in OWN_KERNELS or len(words) != 1 + len(OWN_KERNELS[words[0]]):
        raise ModelFormatError(
            path,
            f"kernel '{' '.join(words)[:40]}' found, expected"
            f" {' or '.join(' '.join((k, *v)) for k, v in OWN_KERNELS.items())}",
            line,
        )
    values = {
        key: (whole_number if key == "degree" else real_number)(word, key, path, line)
        for key, word in zip(OWN_KERNELS[words[0]], words[1:])
    }
    kernel = Kernel(words[0], values.get("gamma", 0.0), values.get("coef0", 0.0), degree=int(values.get("degree", 0)))
    if not kernel.semidefinite or (kernel.type == "normalized_polynomial" and (kernel.coef0 <= 0 or kernel.degree < 0)):
        raise ModelFormatError(
            path,
            f"kernel '{' '.join(words)[:40]}' found, expected gamma 0 or"
            f" more{', coef0 above 0' * (kernel.type != 'exponential')}",
            line,
        )
    return kernel

"""Triangle models: support vectors in the order of their distance from a pivot (Acevedo-Rodriguez, Maldonado-Bascon,
Lafuente-Arroyo, Siegmann, Lopez-Ferreras, "Computational load reduction in decision functions using support vector
machines"). The file format is described in FORMAT.md."""

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.kernel import Kernel
from fastsvm_cli.models.ordered import WITHOUT_VECTORS, OrderedFile, OrderedModel


class TriangleModel(OrderedModel):
    """A LIBSVM model whose support vectors stand in lists, in the order of their distance from a pivot.

    pivots: rows of exact.vectors, a list's each. A list itself is made when a row first needs it."""

    kind = "triangle"

    def __init__(self, exact: ExactModel, fingerprint: str, *, pivots: "list[int]"):
        super().__init__(exact, fingerprint)
        self.pivots = pivots
        self._lists: _native.Triangle | None = None

    @property
    def ordered_by(self) -> str:
        return f"{len(self.pivots)} list{'s' * (len(self.pivots) != 1)} by distance"

    def settle(self, chunk: _native.Chunk, task: _native.Task, tolerance: float, out: _native.Decisions) -> "list[int]":
        if self._lists is None:
            self._lists = _native.Triangle(self.exact.svm_model, self.pivots)
        return self._lists.decision_values(chunk, task, tolerance, out)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "TriangleModel":
        file = OrderedFile(text, path, ("nr_lists",))
        check_falls(file.exact.kernel, path)
        file.body.record("pivots")
        pivots = file.body.whole_numbers(file.own.whole("nr_lists", 0), file.exact.header.total_sv)
        file.body.end()
        return cls(file.exact, file.fingerprint, pivots=pivots)

    def to_text(self) -> bytes:
        pivots = (" ".join(map(str, self.pivots)) + "\n").encode() if self.pivots else b""
        return self.file_of(f"nr_lists {len(self.pivots)}\n", b"pivots\n", pivots)


def refusal(kernel: Kernel) -> "str | None":
    """Why the triangle inequality bounds nothing of a kernel, or None where the kernel falls with the distance."""
    if kernel.type == "precomputed":
        return WITHOUT_VECTORS
    if kernel.of_distances and kernel.gamma >= 0:
        return None
    return (
        f"a {kernel.type} kernel{' with negative gamma' * (kernel.gamma < 0)} found, expected one that falls with the"
        " distance, rbf or exponential: the triangle inequality says nothing of others"
    )


def check_falls(kernel: Kernel, path: str) -> None:
    """Raise ModelFormatError unless the kernel falls with the distance."""
    why = refusal(kernel)
    if why is not None:
        raise ModelFormatError(path, why)

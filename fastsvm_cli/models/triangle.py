"""Triangle models: support vectors ordered by distance from a pivot (Acevedo-Rodriguez et al., "Computational load
reduction in decision functions using support vector machines"). Format: FORMAT.md."""

from fastsvm_cli import _native
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.kernel import Kernel
from fastsvm_cli.models.ordered import OrderedModel, read_ordered


class TriangleModel(OrderedModel):
    """A LIBSVM model with lists of support vectors. pivots: rows of exact.vectors, one per list."""

    kind = "triangle"

    def __init__(self, exact: ExactModel, fingerprint: str, *, pivots: "list[int]"):
        super().__init__(exact, fingerprint)
        self.pivots = pivots
        self._lists: _native.Triangle | None = None

    @property
    def ordered_by(self) -> str:
        return f"{len(self.pivots)} list{'s' * (len(self.pivots) != 1)} by distance"

    @property
    def evaluator(self) -> _native.Triangle:
        if self._lists is None:
            self._lists = _native.Triangle(self.exact.svm_model, self.pivots)
        return self._lists

    def make_native(self) -> "_native.Model":
        return _native.TriangleModel(self.exact.native, self.evaluator)

    @classmethod
    def parse(cls, text: bytes, path: str) -> "TriangleModel":
        return cls(**read_ordered(_native.read_triangle(text, path), path))

    def to_text(self) -> bytes:
        pivots = (" ".join(map(str, self.pivots)) + "\n").encode() if self.pivots else b""
        return self.file_of(f"nr_lists {len(self.pivots)}\n", b"pivots\n", pivots)


def refusal(kernel: Kernel) -> "str | None":
    """Return why the triangle inequality bounds nothing, or None."""
    return _native.triangle_refusal(*kernel.numbers) or None

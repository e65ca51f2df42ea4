"""Exact models, as svm-train writes them."""

from typing import TYPE_CHECKING

from fastsvm_cli import _native
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.kernel import KERNELS, Kernel
from fastsvm_cli.text.header import Header

if TYPE_CHECKING:
    from fastsvm_cli.models.folded import Folded


class ExactModel(Model):
    """A LIBSVM model. Its radii bound rounding errors only.

    vectors: `leading` holds the coefficients, (total_sv, nr_class - 1), in LIBSVM's order.
    kernel: the header's, or the one to evaluate on known vectors of a precomputed kernel."""

    kind = "LIBSVM"
    vectors: _native.Chunk
    proves = True  # the reference sum decides near thresholds

    def __init__(self, header: Header, vectors: _native.Chunk, path: str = "model", kernel: "Kernel | None" = None):
        self.header, self.vectors, self.path = header, vectors, path
        self.kernel = kernel or Kernel(header.kernel_type, header.gamma, header.coef0, header.degree)

    @property
    def uncompilable(self) -> "str | None":
        """Why no method compiles it, and no target of export holds it."""
        if self.vectors.increasing:
            return None
        return (
            "indices of a support vector that do not increase found: fastsvm predict answers as svm-predict does, but"
            " this model cannot be compiled or exported; write it again with sorted indices"
        )

    @property
    def inheritance(self) -> "Folded | None":
        """Mark that a model compiled from it takes raw rows."""
        return None if self.folded is None else self.folded.passed_on()

    @classmethod
    def parse(cls, text: bytes, path: str) -> "ExactModel":
        header, vectors, _, _, notes = _native.read_libsvm(text, path)
        model = cls(Header(**header), vectors, path)
        model.notes = notes
        return model

    def to_text(self) -> bytes:
        return self.header.lines().encode() + b"SV\n" + _native.format_rows(self.vectors)

    @property
    def serials(self) -> bool:
        return self.kernel.type == "precomputed"

    @property
    def max_index(self) -> int:
        return self._largest_serial() if self.serials else self.vectors.max_index

    @property
    def svm_model(self) -> _native.SvmModel:
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

    def make_native(self) -> "_native.Model":
        return _native.ExactModel(self.header, self.svm_model)

    @property
    def evaluator(self) -> _native.Exact:
        return self.native.evaluator

    def plain(self) -> "ExactModel":
        """Return the model without fastsvm's last line."""
        return self

    def _largest_serial(self) -> int:
        return max(map(int, self.vectors.values), default=0)

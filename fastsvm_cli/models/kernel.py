"""Kernels K(x, z) (native/exact/kernel.h)."""

from fastsvm_cli import _native
from fastsvm_cli.text.header import KERNEL_TYPES

#: Kernels that LIBSVM trains only as precomputed -> their parameters in a model's line `kernel`.
OWN_KERNELS = {"exponential": ("gamma",), "normalized_polynomial": ("degree", "gamma", "coef0")}

#: The core's kernels, in its order.
KERNELS = (*KERNEL_TYPES, *OWN_KERNELS)


class Kernel:
    """Kernel with parameters; those that its formula lacks are 0."""

    def __init__(self, type: str, gamma: float = 0.0, coef0: float = 0.0, degree: int = 0):
        self.type, self.gamma, self.coef0, self.degree = type, gamma, coef0, degree

    @property
    def of_distances(self) -> bool:
        """Whether values depend on |x - z| alone."""
        return self.type in ("rbf", "exponential")

    @property
    def semidefinite(self) -> bool:
        return _native.semidefinite(*self.numbers)

    @property
    def numbers(self) -> "tuple[int, float, float, int]":
        return KERNELS.index(self.type), self.gamma, self.coef0, self.degree

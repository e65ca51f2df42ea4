"""K(x, z): the kernels, their names and their parameters. The native core evaluates them (native/exact/kernel.h)."""

from fastsvm_cli import _native
from fastsvm_cli.text.header import KERNEL_TYPES

#: Kernels that LIBSVM trains only as precomputed ones -> their parameters, as they stand in the line `kernel` of an
#: ordered model.
OWN_KERNELS = {"exponential": ("gamma",), "normalized_polynomial": ("degree", "gamma", "coef0")}

#: The native core's kernels, in its order (_native.KERNELS): LIBSVM's, then its own.
KERNELS = (*KERNEL_TYPES, *OWN_KERNELS)


class Kernel:
    """A kernel with its parameters; those that its formula lacks are 0.

    type: one of KERNELS. LIBSVM's as LIBSVM defines them, and two more: exponential, exp(-gamma |x - z|), and
    normalized_polynomial, k(x, z) / sqrt(k(x, x) k(z, z)) with k(x, z) = (gamma x.z + coef0)^degree."""

    def __init__(self, type: str, gamma: float = 0.0, coef0: float = 0.0, degree: int = 0):
        self.type, self.gamma, self.coef0, self.degree = type, gamma, coef0, degree

    @property
    def of_distances(self) -> bool:
        """Whether its values follow from |x - z| alone, so that the origin may move, and fall with it where gamma is
        not negative."""
        return self.type in ("rbf", "exponential")

    @property
    def semidefinite(self) -> bool:
        """Whether it is positive semidefinite for any vectors: K(x, z) = <phi(x), phi(z)> for some features phi."""
        return _native.semidefinite(*self.numbers)

    @property
    def numbers(self) -> "tuple[int, float, float, int]":
        """As the native core takes it."""
        return KERNELS.index(self.type), self.gamma, self.coef0, self.degree

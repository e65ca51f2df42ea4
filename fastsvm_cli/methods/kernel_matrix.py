"""Kernel values between sets of rows, computed by the core."""

from math import sqrt

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.methods.feature_space import Matrix, near_origin
from fastsvm_cli.methods.parallel import over_blocks

_FEW = 4  # for fewer rows, kernel values cost less than passing over weights


class KernelMatrix:
    """Kernel values with x (n, d), in double precision, the same for any number of threads.

    For kernels of distances, move x near the origin (`near_origin`), or digits are lost. Raises ValueError for
    precomputed kernels.
    """

    def __init__(self, kernel: Kernel, x: Matrix):
        self.kernel, self.shape = kernel, x.shape
        self._native = _native.KernelMatrix(kernel, _rows(x))

    def __call__(self, z: Matrix) -> np.ndarray:
        """Return K(z, x): (m, n)."""
        out = np.empty((z.shape[0], self.shape[0]))
        self._native.values(_rows(z), out)
        return out

    def of_vectors(self, which: "list[int]") -> np.ndarray:
        """Return K(x_i, x): (len(which), n)."""
        out = np.empty((len(which), self.shape[0]))
        self._native.own_values(which, out)
        return out

    def times(self, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return K(z, x) weights, (m, k), without storing all kernel values."""
        if len(z) < _FEW:
            return self(z) @ weights
        out = np.empty((len(z), weights.shape[1]))
        self._native.times(_rows(z), np.ascontiguousarray(weights), out)
        return out

    @property
    def diagonal(self) -> np.ndarray:
        """Values K(x_i, x_i): (n)."""
        return np.array(self._native.diagonal())


def _rows(x: Matrix) -> "np.ndarray | _native.Chunk":
    """Return rows in the form that the core takes; column j is feature j + 1."""
    if isinstance(x, np.ndarray):
        return np.ascontiguousarray(x, float)
    x = x.tocsr()
    return _native.Chunk.from_csr(np.zeros((x.shape[0], 0)), x.indptr, x.indices + 1, x.data)


BLOCK_ROWS = 1 << 14  # of a column, factored together


class PartialCholesky:
    """Partial Cholesky factorisation K ~ L L', a column per chosen vector.

    diagonal: of K - L L'. single: L in single precision, half the cost, for kernel values of at most 1, to about 1e-6
    of the diagonal. Raises ValueError for sigmoid and precomputed kernels.
    """

    def __init__(self, kernel: Kernel, x: Matrix, most: int, single: bool = False):
        if kernel.of_distances:  # independent of the origin
            x = near_origin(x)
        if kernel.type in ("sigmoid", "precomputed"):
            raise ValueError(f"a {kernel.type} kernel cannot be factored: it is not semidefinite")
        self.kernel_matrix = KernelMatrix(kernel, x)
        self.self_kernel = np.maximum(self.kernel_matrix.diagonal, 0.0)
        self.diagonal = self.self_kernel.copy()
        self.factor = np.zeros((x.shape[0], most), np.float32 if single else float, order="F")
        self.count = 0

    def residual_columns(self, rows: np.ndarray) -> np.ndarray:
        """Return (K - L L')[:, rows]."""
        out, theirs = self.kernel_matrix.of_vectors(rows.tolist()).T, self.factor[rows, : self.count].T

        def some(mine: slice) -> None:
            out[mine] -= self.factor[mine, : self.count] @ theirs

        over_blocks(len(out), BLOCK_ROWS, some)
        return out

    def add(self, p: int) -> np.ndarray:
        """Add row p; return its column."""
        column = self.residual_columns(np.array([p]))[:, 0] / sqrt(self.diagonal[p])
        self.factor[:, self.count] = column
        self.count += 1
        self.diagonal = np.maximum(0.0, self.diagonal - column**2)
        self.diagonal[p] = 0.0
        return column

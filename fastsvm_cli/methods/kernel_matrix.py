"""Kernel values between sets of rows, computed by the core."""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.methods.feature_space import Matrix

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
    """Column j is feature j + 1."""
    if isinstance(x, np.ndarray):
        return np.ascontiguousarray(x, float)
    x = x.tocsr()
    return _native.Chunk.from_csr(np.zeros((x.shape[0], 0)), x.indptr, x.indices + 1, x.data)

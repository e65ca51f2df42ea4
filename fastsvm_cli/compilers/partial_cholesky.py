"""A kernel matrix, factored as far as rows of it have been chosen."""

from math import sqrt

import numpy as np

from fastsvm_cli.compilers.feature_space import Matrix, near_origin, row_norms
from fastsvm_cli.compilers.parallel import over_blocks
from fastsvm_cli.models.kernel import Kernel

_BLOCK_ROWS = 1 << 14  # of a column of the factorisation that are done together


class PartialCholesky:
    """A partial Cholesky factorisation K ~ L L' over all vectors, a column per chosen one. diagonal: of K - L L'."""

    def __init__(self, kernel: Kernel, x: Matrix, most: int):
        if kernel.of_distances:  # which do not change with the origin
            x = near_origin(x)
        self.kernel, self.x = kernel, x
        self.norms = row_norms(x)
        self.dense = x if isinstance(x, np.ndarray) else x.toarray() if x.shape[0] * x.shape[1] <= 1 << 26 else None
        self.self_kernel = np.maximum(self._from_dots(self.norms, self.norms, self.norms), 0.0)
        self.diagonal = self.self_kernel.copy()
        self.factor = np.zeros((x.shape[0], most), order="F")
        self.count = 0

    def residual_columns(self, rows: np.ndarray) -> np.ndarray:
        """(K - L L')[:, rows]"""
        out, theirs = np.empty((self.x.shape[0], len(rows))), self.factor[rows, : self.count].T
        dense = self.dense
        if dense is None and len(rows) == 1:
            dots = (self.x @ self.x[rows].toarray().ravel())[:, None]
        elif dense is None:
            dots = (self.x @ self.x[rows].T).toarray()
        else:
            dots = dense[rows].T

        def some(mine: slice) -> None:
            products = dots[mine] if dense is None else dense[mine] @ dots
            out[mine] = self._from_dots(products, self.norms[mine, None], self.norms[rows])
            out[mine] -= self.factor[mine, : self.count] @ theirs

        over_blocks(len(out), _BLOCK_ROWS, some)
        return out

    def add(self, p: int) -> np.ndarray:
        """Take row p; returns its column of L."""
        column = self.residual_columns(np.array([p]))[:, 0] / sqrt(self.diagonal[p])
        self.factor[:, self.count] = column
        self.count += 1
        self.diagonal = np.maximum(0.0, self.diagonal - column**2)
        self.diagonal[p] = 0.0
        return column

    def _from_dots(self, dots: np.ndarray, norms: np.ndarray, other: np.ndarray) -> np.ndarray:
        """K(x, z) from inner products x.z and squared norms |x|^2, |z|^2, which broadcast together."""
        kernel = self.kernel
        if kernel.type == "linear":
            return dots
        if kernel.type == "polynomial":
            return (kernel.gamma * dots + kernel.coef0) ** kernel.degree
        if kernel.type == "normalized_polynomial":

            def power(t: np.ndarray) -> np.ndarray:
                return (kernel.gamma * t + kernel.coef0) ** kernel.degree

            return power(dots) / np.sqrt(power(norms) * power(other))
        if not kernel.of_distances:
            raise ValueError(f"a {kernel.type} kernel cannot be factored: it is not semidefinite")
        squares = np.maximum(0.0, norms + other - 2 * dots)
        return np.exp(-kernel.gamma * (squares if kernel.type == "rbf" else np.sqrt(squares)))

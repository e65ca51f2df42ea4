"""Decision functions in parts (Suttorp and Igel, section 2)."""

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.bounds import UNIT
from fastsvm_cli.methods.feature_space import FeatureSpace, Matrix, far_mean, matrix, moved
from fastsvm_cli.methods.kernel_matrix import KernelMatrix
from fastsvm_cli.methods.reduce.placement import gaussian, moments
from fastsvm_cli.models.base import ExactModel

DENSE_CELLS = 1 << 25  # limit of support vectors times features
BLOCK_CELLS = 1 << 22  # decision values in memory


class Part:
    """Vectors x (n, d) with coefficients a (n, m) that share approximating vectors.

    functions: (function, column) per column. values: K a, (n, m).
    """

    def __init__(
        self,
        x: Matrix,
        a: np.ndarray,
        gamma: float,
        functions: "list[tuple[int, int]]",
        values: "Callable[[], np.ndarray]",
    ):
        self.x, self.a, self.gamma, self.functions, self._values = x, a, gamma, functions, values

    @cached_property
    def values(self) -> np.ndarray:
        """Values of the part's function at its vectors."""
        return self._values()

    @cached_property
    def kernel(self) -> KernelMatrix:
        """Kernel values with the part's vectors."""
        return gaussian(self.x, self.gamma)

    @cached_property
    def moments(self) -> "np.ndarray | None":
        """Moments of the weighted vectors, or None."""
        return moments(self.x, self.a)

    def __len__(self) -> int:
        return self.x.shape[0]

    def row(self, at: int) -> np.ndarray:
        """Return a vector as a dense row, (d)."""
        return np.asarray(self.x[at].todense()).ravel() if hasattr(self.x, "todense") else self.x[at]


class Problem:
    """Approximation problem of a model.

    parts: one per class if more than two, else one. columns: LIBSVM indices (d). origin: point (d) subtracted from the
    vectors, or None. unit: divisor of the coefficients, not 1 if squares would overflow. space: of the shifted model.
    scale: sum of squared_norm (functions), at least its rounding error.
    """

    def __init__(self, space: FeatureSpace):
        model, header = space.model, space.model.header
        self.gamma, self.header = header.gamma, header
        x, self.columns = matrix(model.vectors)
        if x.shape[0] * x.shape[1] <= DENSE_CELLS:
            x = x.toarray()
        self.origin = far_mean(x)
        if self.origin is not None:
            model = moved(model, x, self.columns, self.origin)
            space = FeatureSpace(model)
            x = matrix(model.vectors)[0].toarray()
        a = np.asarray(model.vectors.leading)
        largest = float(np.max(np.abs(a), initial=0.0))
        self.unit = 1.0 if 1e-100 < largest < 1e100 or largest == 0 else 2.0 ** np.floor(np.log2(largest))
        a = a / self.unit
        self.parts: list[Part] = []
        if header.classification and header.nr_class > 2:
            starts = np.concatenate(([0], np.cumsum(header.nr_sv)))
            pair = {}
            for p, i, j in header.class_pairs:
                pair[i, j] = pair[j, i] = p
            for c in range(header.nr_class):
                rows = slice(starts[c], starts[c + 1])
                self.parts.append(
                    Part(
                        x[rows],
                        a[rows],
                        self.gamma,
                        [(pair[c, other], other - (other > c)) for other in range(header.nr_class) if other != c],
                        partial(self._values_of_class, model, rows),
                    )
                )
        else:
            whole = partial(self._values_of_all, space)
            self.parts.append(Part(x, a[:, :1], self.gamma, [(0, 0)] if header.pairs else [], whole))
        self.functions = header.pairs
        # One or two (part, column) per function.
        self.members: list[list[tuple[int, int]]] = [[] for _ in range(self.functions)]
        for at, part in enumerate(self.parts):
            for function, column in part.functions:
                self.members[function].append((at, column))
        self.space = space

    @cached_property
    def squared_norm(self) -> np.ndarray:
        """Squared norms of the decision functions: (pairs)."""
        b, _ = self.space.at_support_vectors  # <Psi, phi(x)>
        return np.maximum(np.einsum("ip,ip->p", self.space.coefficients / self.unit, b / self.unit), 0.0)

    @cached_property
    def scale(self) -> float:
        """Sum of the squared norms, at least what rounding hides."""
        coefficients = self.space.coefficients / self.unit
        return max(
            float(self.squared_norm.sum()),
            UNIT * float((np.abs(coefficients).sum(axis=0) ** 2).sum()),
            np.finfo(float).tiny,
        )

    def _values_of_all(self, space: FeatureSpace) -> np.ndarray:
        return space.at_support_vectors[0][:, :1] / self.unit

    def _values_of_class(self, model: ExactModel, rows: slice) -> np.ndarray:
        """Return K a, without the other classes."""
        vectors = model.vectors.select(list(range(rows.start, rows.stop)))
        n, m = vectors.rows, vectors.leading_count
        header = model.header.changed(nr_sv=[n] + m * [0], total_sv=n, rho=[0.0] * model.pairs)
        alone = _native.Exact(_native.LibsvmFile(header, vectors).svm_model)
        decisions = _native.Decisions(header.pairs)
        out = np.empty((n, m))
        size = max(1, BLOCK_CELLS // header.pairs)
        for at in range(0, n, size):
            alone.fast_values(vectors.select(list(range(at, min(n, at + size)))), decisions)
            out[at : at + size] = np.asarray(decisions.value)[:, :m]
        return out / self.unit

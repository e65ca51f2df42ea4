"""Rows as matrices, their kernel values and clusters; decision functions as vectors of the feature space."""

import warnings
from functools import cached_property
from math import sqrt
from typing import TypeAlias

import numpy as np
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.bounds import LOST_PRODUCT, UNIT
from fastsvm_cli.comparisons import LEAST_PART, PART_EVALUATIONS
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.description import pair_coefficients
from fastsvm_cli.methods import Progress, silent
from fastsvm_cli.methods.parallel import over_blocks
from fastsvm_cli.models import ExactModel

# A mean is far if its squared norm is this many times the rows' mean square distance from it.
_FAR = 1000
_MOVED_CELLS = 1 << 26  # limit of rows times features that are moved, and dense then
BLOCK_CELLS, BLOCK_ROWS = 1 << 16, 64  # cells of a block in the cache; least rows worth a call

#: Rows, dense or sparse: (n, d).
Matrix: TypeAlias = np.ndarray | scipy.sparse.spmatrix


def matrix(vectors: _native.Chunk, columns: "np.ndarray | None" = None) -> "tuple[scipy.sparse.csr_matrix, np.ndarray]":
    """Return rows as (sparse (n, d), its increasing LIBSVM indices (d)). columns: keep only these."""
    indices, values, starts = np.asarray(vectors.indices), np.asarray(vectors.values), np.asarray(vectors.indptr)
    if columns is None:
        columns, position = np.unique(indices, return_inverse=True)
    else:
        position = np.minimum(np.searchsorted(columns, indices), max(len(columns) - 1, 0))
        known = columns[position] == indices if len(columns) else np.zeros(len(indices), bool)
        starts = np.concatenate(([0], np.cumsum(known)))[starts]
        position, values = position[known], values[known]
    return scipy.sparse.csr_matrix((values, position, starts), shape=(vectors.rows, len(columns))), columns


def require_finite(path: str, what: str, *numbers: "np.ndarray | list[float]") -> None:
    """Refuse what overflows."""
    if not all(np.all(np.isfinite(each)) for each in numbers):
        raise ModelFormatError(path, f"{what} overflows: scale the data")


def dense(x: Matrix) -> np.ndarray:
    """Return x as an array."""
    return x.toarray() if hasattr(x, "toarray") else x


def row_norms(x: Matrix) -> np.ndarray:
    """Return the squared norms of the rows of x, (n)."""
    return np.asarray(x.multiply(x).sum(axis=1) if hasattr(x, "multiply") else np.einsum("ij,ij->i", x, x)).ravel()


def squared_distances(x: Matrix, norms: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return |z_j - x_i|^2, (m, n), of x (n, d) with squared `norms`, and z (m, d).

    Far from the origin, digits are lost.
    """
    dots, other = np.asarray(x @ z.T), row_norms(z)[:, None]  # (n, m)
    n, m = dots.shape
    out = np.empty((m, n))

    def some(rows: slice) -> None:
        squares = norms[rows] + other
        part = dots[rows].T.copy()
        part *= 2
        squares -= part
        np.maximum(squares, 0, out=out[:, rows])

    over_blocks(n, max(BLOCK_ROWS, BLOCK_CELLS // max(m, 1)), some)
    return out


@np.errstate(all="ignore")  # squares may overflow
def far_mean(x: Matrix) -> "np.ndarray | None":
    """Return the mean row (d) of a dense x if inner products lose digits that far from the origin, else None."""
    if not isinstance(x, np.ndarray) or not x.size:
        return None
    mean = x.mean(axis=0)
    moved = x - mean
    far = mean @ mean > _FAR * np.einsum("ij,ij->", moved, moved) / len(x)
    return mean if far and np.all(np.isfinite(mean)) else None


def near_origin(x: scipy.sparse.csr_matrix) -> Matrix:
    """Return x minus its mean row, dense, if that is far and x is not too large; else x."""
    # With half of the entries 0, the mean is not far.
    if x.shape[0] * x.shape[1] > _MOVED_CELLS or x.nnz < 0.5 * x.shape[0] * x.shape[1]:
        return x
    all_cells = x.toarray()
    mean = far_mean(all_cells)
    return x if mean is None else all_cells - mean


def moved(model: ExactModel, x: np.ndarray, columns: np.ndarray, point: np.ndarray) -> ExactModel:
    """Return an RBF model with `point` as origin, equal up to rounding."""
    n, d = x.shape
    # Store zeros too: a constant feature (0 relative to the mean) must remain a column.
    values = (x - point).ravel()
    vectors = _native.Chunk.from_csr(model.vectors.leading, np.arange(n + 1) * d, np.tile(columns, n), values)
    return ExactModel(_native.LibsvmFile(model.header, vectors), model.path)


def fast_values(model: ExactModel, rows: _native.Chunk) -> np.ndarray:
    """Return decision values without reference sums: (rows, pairs)."""
    decisions = _native.Decisions(model.pairs)
    model.fast_values(rows, decisions)
    return np.array(decisions.value).reshape(rows.rows, model.pairs)


def classes_of_vectors(header: _native.Header) -> np.ndarray:
    """Return the class of every support vector, (total_sv); 0 without classes."""
    if not header.classification:
        return np.zeros(header.total_sv, int)
    return np.repeat(np.arange(header.nr_class), header.nr_sv)


#: Most support vectors for which B27 to B29 of PROOFS.md bound the rounding of sums.
MOST_VECTORS = 4_000_000


def too_many_vectors(model: ExactModel) -> "str | None":
    """Return why no length in feature space is bounded, or None."""
    count = model.header.total_sv
    if count <= MOST_VECTORS:
        return None
    why = "the rounding of longer sums is not proven"
    return f"{count:,} support vectors found, expected at most {MOST_VECTORS:,}: {why}"


class FeatureSpace:
    """Decision functions as vectors: w_p = sum_i a_ip phi(x_i), f_p(z) = <w_p, phi(z)> - rho_p.

    Values at the support vectors take total_sv^2 kernel evaluations. A precomputed kernel has coefficients only.
    """

    def __init__(self, model: ExactModel, on_progress: Progress = silent):
        self.model, self.on_progress = model, on_progress

    @cached_property
    def coefficients(self) -> np.ndarray:
        """(total_sv, pairs), read-only."""
        header, own = self.model.header, np.asarray(self.model.vectors.leading)
        if not header.classification:
            return own
        out = pair_coefficients(own, header.nr_sv, header.pairs).T.copy()
        out.flags.writeable = False
        return out

    def inner_products(self, rows: _native.Chunk) -> "tuple[np.ndarray, np.ndarray]":
        """Return f(z) + rho, and error bounds: both (rows, pairs)."""
        model, evaluator = self.model, self._without_offsets
        decisions = _native.Decisions(model.pairs, True)
        b, radius = np.empty((rows.rows, model.pairs)), np.empty((rows.rows, model.pairs))
        # Parts of at most about a second, for progress and interrupts.
        size = max(LEAST_PART, PART_EVALUATIONS // max(model.header.total_sv, 1))
        for at in range(0, rows.rows, size):
            part = slice(at, min(rows.rows, at + size))
            mine = rows if size >= rows.rows else rows.slice(part.start, part.stop)
            evaluator.fast_values(mine, decisions)
            b[part], radius[part] = np.asarray(decisions.value), np.asarray(decisions.radius)
            if rows is model.vectors:
                self.on_progress(part.stop / rows.rows)
        if not (np.all(np.isfinite(b)) and np.all(np.isfinite(radius))):
            why = "a decision value at a support vector overflows, or no bound of its rounding is known: scale the data"
            raise ModelFormatError(model.path, why)
        return b, radius

    @cached_property
    def at_support_vectors(self) -> "tuple[np.ndarray, np.ndarray]":
        """`inner_products` at the support vectors, read-only."""
        both = self.inner_products(self.model.vectors)
        for each in both:
            each.flags.writeable = False
        return both

    @cached_property
    def squared_norms(self) -> np.ndarray:
        """(pairs), rounded up (B27 of PROOFS.md)."""
        a, (b, error) = self.coefficients, self.at_support_vectors
        n = len(b)
        total = np.einsum("ip,ip->p", a, b)
        size = np.einsum("ip,ip->p", np.abs(a), np.abs(b))
        with np.errstate(over="ignore", invalid="ignore"):
            slack = (np.einsum("ip,ip->p", np.abs(a), error) + (n + 8) * UNIT * size) * (1 + 1e-9)
            out = np.maximum(0.0, total) + slack + 3 * n * LOST_PRODUCT
        require_finite(self.model.path, "the norm of a decision function", out)
        return out

    @cached_property
    def _without_offsets(self) -> _native.LibsvmFile:
        # A large rho costs digits.
        model = self.model
        header = model.header.changed(rho=[0.0] * model.pairs)
        return _native.LibsvmFile(header, model.vectors, model.kernel)


_FEW = 4  # for fewer rows, kernel values cost less than passing over weights


class KernelMatrix:
    """Kernel values with x (n, d), the same for any number of threads.

    For kernels of distances, x is to be near the origin (`near_origin`). A precomputed kernel is a ValueError.
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
        """Return K(z, x) weights, (m, k), without all kernel values in memory."""
        if len(z) < _FEW:
            return self(z) @ weights
        out = np.empty((len(z), weights.shape[1]))
        self._native.times(_rows(z), np.ascontiguousarray(weights), out)
        return out

    @property
    def diagonal(self) -> np.ndarray:
        """K(x_i, x_i): (n)."""
        return np.array(self._native.diagonal())


def _rows(x: Matrix) -> "np.ndarray | _native.Chunk":
    # Column j is feature j + 1.
    if isinstance(x, np.ndarray):
        return np.ascontiguousarray(x, float)
    x = x.tocsr()
    return _native.Chunk.from_csr(np.zeros((x.shape[0], 0)), x.indptr, x.indices + 1, x.data)


COLUMN_ROWS = 1 << 14  # of a column, factored together


class PartialCholesky:
    """Partial Cholesky factorisation K ~ L L', a column per chosen vector; not of sigmoid and precomputed kernels.

    diagonal: of K - L L'. single: L in single precision, at half the cost, for |K| <= 1, to 1e-6 of the diagonal.
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

        over_blocks(len(out), COLUMN_ROWS, some)
        return out

    def add(self, p: int) -> np.ndarray:
        """Add row p; return its column."""
        column = self.residual_columns(np.array([p]))[:, 0] / sqrt(self.diagonal[p])
        self.factor[:, self.count] = column
        self.count += 1
        self.diagonal = np.maximum(0.0, self.diagonal - column**2)
        self.diagonal[p] = 0.0
        return column


ROUNDS = 30
# For dense rows: rows times features, and rows times clusters.
MEANS_DENSE_CELLS, _DISTANCES = 1 << 26, 1 << 27
# Clusters times features: means are dense.
CENTROIDS = 1 << 28
# Limit of distances in memory.
MEANS_BLOCK_CELLS = 1 << 24


def clusters_of(vectors: _native.Chunk, k: int, path: str, on_progress: Progress = silent) -> "list[int]":
    """Return every vector's cluster. Fixed seed: same model, same file."""
    return k_means(near_origin(matrix(vectors)[0]), k, 0, path, on_progress)[1].tolist()


@np.errstate(all="ignore")
def k_means(x: Matrix, k: int, seed: int, path: str, on_progress: Progress = silent) -> "tuple[np.ndarray, np.ndarray]":
    """Return (means (at most k, d), not finite for empty clusters; cluster per row (n))."""
    n, d = x.shape
    if not np.all(np.isfinite(row_norms(x))):
        raise ModelFormatError(
            path, "the squared norms of the support vectors overflow, they cannot be clustered: scale the data"
        )
    k = min(k, n)
    if k * d > CENTROIDS:
        raise ModelFormatError(
            path,
            f"{k} clusters of {d} features found, whose means take {8e-9 * k * d:.3g} GB, expected at most"
            f" {8e-9 * CENTROIDS:.3g} GB",
        )
    # Division by a power of 2 is exact. Then no square overflows, and no significant one underflows.
    largest = float(abs(x).max()) if x.size else 0.0
    unit = 2.0 ** max(-1000.0, np.floor(np.log2(largest or 1.0)))
    x = x / unit
    if n * d > MEANS_DENSE_CELLS or n * k > _DISTANCES:
        means, cluster = _sparse_means(scipy.sparse.csr_matrix(x), k, np.random.default_rng(seed), on_progress)
    else:
        means, cluster = _dense_means(dense(x), k, seed, on_progress)
    means *= unit
    return means, cluster


def _dense_means(x: np.ndarray, count: int, seed: int, on_progress: Progress) -> "tuple[np.ndarray, np.ndarray]":
    from scipy.cluster.vq import kmeans2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # empty clusters are allowed
        # scipy takes no larger seed.
        start = seed if seed < 2**32 else np.random.default_rng(seed)
        means, cluster = kmeans2(x, count, iter=1, minit="++", seed=start)
        for done in range(1, ROUNDS):
            on_progress(done / ROUNDS)
            means, cluster = kmeans2(x, means, iter=1, minit="matrix")
    return means, cluster


def _sparse_means(
    x: scipy.sparse.csr_matrix, count: int, rng: np.random.Generator, on_progress: Progress
) -> "tuple[np.ndarray, np.ndarray]":
    n = x.shape[0]
    norms = row_norms(x)
    means = x[rng.choice(n, count, replace=False)].toarray()
    cluster = np.full(n, -1)
    size = max(1, MEANS_BLOCK_CELLS // count)
    for done in range(ROUNDS):
        on_progress(done / ROUNDS)
        before, cluster, squares = cluster, np.empty(n, int), np.einsum("ij,ij->i", means, means)
        for at in range(0, n, size):
            part = slice(at, at + size)
            cluster[part] = np.argmin(norms[part, None] - 2 * (x[part] @ means.T) + squares, axis=1)
        if np.array_equal(cluster, before):
            break
        for k in np.unique(cluster):
            means[k] = np.asarray(x[cluster == k].mean(axis=0)).ravel()
    return means, cluster

"""The decision functions of an exact model as vectors of feature space: w = sum_i a_i phi(x_i), f(z) = <w, phi(z)> -
rho."""

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli.bounds import LOST_PRODUCT, UNIT
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.parallel import over_blocks
from fastsvm_cli.models.exact import ExactModel

# Squared: a mean this many times the rows' mean square distance from it is far from the origin (30 times the root).
_FAR = 1000
PART_EVALUATIONS, LEAST_PART = 1 << 28, 256  # kernel evaluations between two calls of on_progress; rows
BLOCK_CELLS, BLOCK_ROWS = 1 << 16, 64  # of a matrix that is made block by block: in the cache, and worth a call

#: Rows of numbers, dense or sparse: (n, d).
Matrix: TypeAlias = np.ndarray | scipy.sparse.spmatrix


def matrix(vectors: _native.Chunk, columns: "np.ndarray | None" = None) -> "tuple[scipy.sparse.csr_matrix, np.ndarray]":
    """The rows of a chunk as a sparse matrix (rows, d), and the increasing LIBSVM indices of its columns (d); of
    `columns`, where they are given, entries elsewhere left out."""
    indices, values, starts = np.asarray(vectors.indices), np.asarray(vectors.values), np.asarray(vectors.indptr)
    if columns is None:
        columns, place = np.unique(indices, return_inverse=True)
    else:
        place = np.minimum(np.searchsorted(columns, indices), max(len(columns) - 1, 0))
        known = columns[place] == indices if len(columns) else np.zeros(len(indices), bool)
        starts = np.concatenate(([0], np.cumsum(known)))[starts]
        place, values = place[known], values[known]
    return scipy.sparse.csr_matrix((values, place, starts), shape=(vectors.rows, len(columns))), columns


def row_norms(x: Matrix) -> np.ndarray:
    """The squared norms of the rows of a dense or sparse matrix: (n)."""
    return np.asarray(x.multiply(x).sum(axis=1) if hasattr(x, "multiply") else np.einsum("ij,ij->i", x, x)).ravel()


def squared_distances(x: Matrix, norms: np.ndarray, z: np.ndarray) -> np.ndarray:
    """|z_j - x_i|^2: (m, n). x: dense or sparse, (n, d); norms: its squared norms; z: dense, (m, d). By inner
    products, which lose digits far from the origin: move both there."""
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


@np.errstate(all="ignore")  # of numbers whose squares overflow nothing is said
def far_mean(x: Matrix) -> "np.ndarray | None":
    """The mean of the rows of x, (d), where it is so far from the origin that squared distances by inner products
    would lose digits: beyond 30 times the rows' root mean square distance from it. None where they lose few, and of
    a sparse x, whose entries are 0 for the most part."""
    if not isinstance(x, np.ndarray) or not x.size:
        return None
    mean = x.mean(axis=0)
    moved = x - mean
    far = mean @ mean > _FAR * np.einsum("ij,ij->", moved, moved) / len(x)
    return mean if far and np.all(np.isfinite(mean)) else None


def near_origin(x: scipy.sparse.csr_matrix, cells: int = 1 << 26) -> Matrix:
    """The rows of a sparse x, told from their mean (and dense) where that is far from the origin; as they are
    otherwise, and where they are more than so many cells."""
    # Where half of the entries are 0, the origin is among the rows, and their mean is not far from it.
    if x.shape[0] * x.shape[1] > cells or x.nnz < 0.5 * x.shape[0] * x.shape[1]:
        return x
    dense = x.toarray()
    mean = far_mean(dense)
    return x if mean is None else dense - mean


def moved(model: ExactModel, x: np.ndarray, columns: np.ndarray, point: np.ndarray) -> ExactModel:
    """An RBF model with the point as its origin: the same decision functions of z - point, to the rounding of a
    subtraction. x (n, d), columns: its vectors, as of `matrix`, dense."""
    n, d = x.shape
    # Zeros are stored too: a constant feature is 0 when told from the mean, and must remain one of the columns.
    values = (x - point).ravel()
    vectors = _native.Chunk.from_csr(model.vectors.leading, np.arange(n + 1) * d, np.tile(columns, n), values)
    return ExactModel(model.header, vectors, model.path)


class FeatureSpace:
    """A model's decision functions as vectors of its kernel's feature space: w_p = sum_i a_ip phi(x_i), where
    f_p(z) = <w_p, phi(z)> - rho_p.

    model: an ExactModel. What is asked for is computed then, and kept: the values at the support vectors take
    total_sv^2 kernel evaluations. Of a precomputed kernel the coefficients alone are known. on_progress:
    called with the share of these that is done.
    """

    def __init__(self, model: ExactModel, on_progress: "Callable[[float], None] | None" = None):
        self.model, self.on_progress = model, on_progress

    @cached_property
    def coefficients(self) -> np.ndarray:
        """The coefficient of every support vector in every decision function, 0 where it has no part: (total_sv,
        pairs), read-only."""
        header, own = self.model.header, np.asarray(self.model.vectors.leading)
        if not header.classification:
            return own
        of = np.repeat(np.arange(header.nr_class), header.nr_sv)
        out = np.zeros((header.total_sv, header.pairs))
        for pair, i, j in header.class_pairs:
            out[of == i, pair] = own[of == i, j - 1]
            out[of == j, pair] = own[of == j, i]
        out.flags.writeable = False
        return out

    def inner_products(self, rows: _native.Chunk) -> "tuple[np.ndarray, np.ndarray]":
        """<w, phi(z)> = f(z) + rho for the rows z and every decision function, and bounds of the errors of these
        numbers: both (rows, pairs). The exact model computes them, and knows the radius of its rounding. Raises
        ModelFormatError where a value overflows."""
        model, evaluator = self.model, self._without_offsets
        decisions = _native.Decisions(model.pairs, True)
        b, radius = np.empty((rows.rows, model.pairs)), np.empty((rows.rows, model.pairs))
        own = rows is model.vectors and evaluator.meets_itself
        if own:
            evaluator.own_values(self.on_progress, decisions)
            b[:], radius[:] = np.asarray(decisions.value), np.asarray(decisions.radius)
        # Parts of about a second or less, so that progress can be shown and an interruption heard.
        size = max(LEAST_PART, PART_EVALUATIONS // max(model.header.total_sv, 1))
        for at in () if own else range(0, rows.rows, size):
            part = slice(at, min(rows.rows, at + size))
            mine = rows if size >= rows.rows else rows.select(list(range(part.start, part.stop)))
            evaluator.fast_values(mine, decisions)
            b[part], radius[part] = np.asarray(decisions.value), np.asarray(decisions.radius)
            if self.on_progress and rows is model.vectors:
                self.on_progress(part.stop / rows.rows)
        if not (np.all(np.isfinite(b)) and np.all(np.isfinite(radius))):
            why = "a decision value at a support vector overflows, or no bound of its rounding is known: scale the data"
            raise ModelFormatError(model.path, why)
        return b, radius

    @cached_property
    def at_support_vectors(self) -> "tuple[np.ndarray, np.ndarray]":
        """`inner_products` at the support vectors, <w_p, phi(x_i)> = (K a_p)_i, and bounds of their errors: both
        (total_sv, pairs), read-only. Raises ModelFormatError where one overflows."""
        both = self.inner_products(self.model.vectors)
        for each in both:
            each.flags.writeable = False
        return both

    @cached_property
    def squared_norms(self) -> np.ndarray:
        """|w|^2 = a.(K a) of every decision function, rounded up (B27 of bounds.py): (pairs). Raises ModelFormatError
        where one overflows."""
        a, (b, error) = self.coefficients, self.at_support_vectors
        n = len(b)
        total = np.einsum("ip,ip->p", a, b)
        size = np.einsum("ip,ip->p", np.abs(a), np.abs(b))
        with np.errstate(over="ignore", invalid="ignore"):
            slack = (np.einsum("ip,ip->p", np.abs(a), error) + (n + 8) * UNIT * size) * (1 + 1e-9)
            out = np.maximum(0.0, total) + slack + 3 * n * LOST_PRODUCT
        if not np.all(np.isfinite(out)):
            raise ModelFormatError(self.model.path, "the norm of a decision function overflows: scale the data")
        return out

    @cached_property
    def _without_offsets(self) -> _native.Exact:
        """The model's evaluator with rho = 0, which may be large beside the values."""
        model, header = self.model, copy(self.model.header)
        header.rho = [0.0] * model.pairs
        return _native.Exact(ExactModel(header, model.vectors, model.path, model.kernel).svm_model)

"""The decision functions of an exact model as vectors of feature space: w = sum_i a_i phi(x_i), f(z) = <w, phi(z)> - rho."""

from copy import copy

import numpy as np
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli.bounds import UNIT
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel

_FAR = 1000


def matrix(vectors: _native.Chunk, columns: "np.ndarray | None" = None):
    """The rows of a chunk as a sparse matrix (rows, d), and the increasing LIBSVM indices of its columns (d); of `columns`, where they are given, entries
    elsewhere left out."""
    indices, values, starts = np.asarray(vectors.indices), np.asarray(vectors.values), np.asarray(vectors.indptr)
    if columns is None:
        columns, place = np.unique(indices, return_inverse=True)
    else:
        place = np.minimum(np.searchsorted(columns, indices), max(len(columns) - 1, 0))
        known = columns[place] == indices if len(columns) else np.zeros(len(indices), bool)
        starts = np.concatenate(([0], np.cumsum(known)))[starts]
        place, values = place[known], values[known]
    return scipy.sparse.csr_matrix((values, place, starts), shape=(vectors.rows, len(columns))), columns


def row_norms(x) -> np.ndarray:
    """The squared norms of the rows of a dense or sparse matrix: (n)."""
    return np.asarray(x.multiply(x).sum(axis=1) if hasattr(x, "multiply") else np.einsum("ij,ij->i", x, x)).ravel()


def squared_distances(x, norms: np.ndarray, z: np.ndarray) -> np.ndarray:
    """|z_j - x_i|^2: (m, n). x: dense or sparse, (n, d); norms: its squared norms; z: dense, (m, d). By inner products, which lose digits far from the origin: move both there."""
    squares = norms + row_norms(z)[:, None] - 2 * np.asarray((x @ z.T)).T
    return np.maximum(squares, 0, out=squares)


@np.errstate(all="ignore")  # of numbers whose squares overflow nothing is said
def far_mean(x) -> "np.ndarray | None":
    """The mean of the rows of x, (d), where it is so far from the origin that squared distances by inner products would lose digits: beyond 30 times
    the rows' root mean square distance from it. None where they lose few, and of a sparse x, whose entries are 0 for the most part."""
    if not isinstance(x, np.ndarray) or not x.size:
        return None
    mean = x.mean(axis=0)
    moved = x - mean
    far = mean @ mean > _FAR * np.einsum("ij,ij->", moved, moved) / len(x)
    return mean if far and np.all(np.isfinite(mean)) else None


def near_origin(x, cells: int = 1 << 26):
    """The rows of a sparse x, told from their mean (and dense) where that is far from the origin; as they are otherwise, and where they are more than so many cells."""
    if x.shape[0] * x.shape[1] > cells or x.nnz < 0.5 * x.shape[0] * x.shape[1]:  # half of the entries are 0: the mean is among the rows
        return x
    dense = x.toarray()
    mean = far_mean(dense)
    return x if mean is None else dense - mean


def moved(model: ExactModel, x: np.ndarray, columns: np.ndarray, point: np.ndarray) -> ExactModel:
    """An RBF model with the point as its origin: the same decision functions of z - point, to the rounding of a subtraction. x (n, d), columns: its vectors, as of
    `matrix`, dense."""
    lines = []
    for coefficients, row in zip(np.asarray(model.vectors.labels).tolist(), (x - point).tolist()):
        lines.append(" ".join([*map(repr, coefficients), *(f"{index}:{value!r}" for index, value in zip(columns, row))]) + "\n")
    return ExactModel(model.header, _native.parse("".join(lines).encode(), leading=model.vectors.leading)[0], model.path)


def inner_products(model: ExactModel, rows: _native.Chunk) -> "tuple[np.ndarray, np.ndarray]":
    """<w, phi(z)> = f(z) + rho for the rows z and every decision function, and bounds of the errors of these numbers: both (rows, pairs). The
    exact model computes them, and knows the radius of its rounding. Raises ModelFormatError where a value overflows."""
    header = copy(model.header)
    header.rho = [0.0] * model.pairs  # which may be large beside them
    decisions = _native.Decisions(model.pairs, True)
    _native.Exact(ExactModel(header, model.vectors, model.path, model.kernel).machine).fast_values(rows, decisions)
    b, radius = np.array(decisions.value), np.array(decisions.radius)
    if not (np.all(np.isfinite(b)) and np.all(np.isfinite(radius))):
        raise ModelFormatError(model.path, "a decision value at a support vector overflows, or no bound of its rounding is known: scale the data")
    return b, radius


def squared_norms(model: ExactModel, b: np.ndarray, error: np.ndarray) -> np.ndarray:
    """|w|^2 = a.(K a) of every decision function, rounded up: (pairs). Raises ModelFormatError where one overflows."""
    a = pair_coefficients(model)
    n = len(b)
    total = np.einsum("ip,ip->p", a, b)
    size = np.einsum("ip,ip->p", np.abs(a), np.abs(b))
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.maximum(0.0, total) + (np.einsum("ip,ip->p", np.abs(a), error) + (n + 8) * UNIT * size) * (1 + 1e-9)
    if not np.all(np.isfinite(out)):
        raise ModelFormatError(model.path, "the norm of a decision function overflows: scale the data")
    return out


def pair_coefficients(model: ExactModel) -> np.ndarray:
    """The coefficient of every support vector in every decision function, 0 where it has no part: (total_sv, pairs)."""
    header, own = model.header, np.asarray(model.vectors.labels)
    if not header.classification:
        return own.copy()
    of = np.repeat(np.arange(header.nr_class), header.nr_sv)
    out = np.zeros((header.total_sv, header.pairs))
    pair = 0
    for i in range(header.nr_class):
        for j in range(i + 1, header.nr_class):
            out[of == i, pair] = own[of == i, j - 1]
            out[of == j, pair] = own[of == j, i]
            pair += 1
    return out

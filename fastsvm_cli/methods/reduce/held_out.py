"""A model without some of its support vectors, to measure on them what a method does to rows that it has not seen."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from fastsvm_cli import _native
from fastsvm_cli.methods.feature_space import FeatureSpace, Matrix, matrix, near_origin
from fastsvm_cli.methods.reduce.placement import gaussian
from fastsvm_cli.models.base import ExactModel

_RIDGE = 1e-6  # added to the kernel matrix's diagonal of ones
_ITERATIONS, _TOLERANCE = 100, 1e-3  # of conjugate gradients; of the residual's norm
_STORED = 4096  # support vectors of a function whose kernel matrix is stored
_DIGITS = 6  # svm-train writes 8
_LARGE = 1e100


def among(rows: _native.Chunk, others: _native.Chunk) -> np.ndarray:
    """Return which rows have the features of one of the others, to six digits: bool (rows). Zeros do not count."""
    known = set(_keys(others))
    return np.fromiter((key in known for key in _keys(rows)), bool, rows.rows)


def _keys(rows: _native.Chunk) -> "list[bytes]":
    values, stored = np.asarray(rows.values), np.asarray(rows.values) != 0
    starts = np.concatenate(([0], np.cumsum(stored)))[np.asarray(rows.indptr)].tolist()
    with np.errstate(all="ignore"):
        power = _DIGITS - 1 - np.floor(np.log10(np.abs(values[stored])))
        digits = np.rint(values[stored] * 10.0**power)
    fields = np.column_stack([np.asarray(rows.indices)[stored], digits, power]).tobytes()
    return [fields[24 * start : 24 * stop] for start, stop in zip(starts, starts[1:])]


def without(model: ExactModel, held: np.ndarray, space: FeatureSpace) -> ExactModel:
    """Return the RBF model whose functions are the projections of the model's on the span of the other support vectors.

    held: (total_sv), True for a support vector to leave out. space: of the model. A function of the result has the
    model's values at the support vectors that remain. Its value at one left out is the estimate of leave-one-out
    (Vapnik and Chapelle, "Bounds on Error Expectation for Support Vector Machines", 2000, section 3), for all of `held`
    at once.
    """
    header, values = model.header, space.at_support_vectors[0]
    x, out = near_origin(matrix(model.vectors)[0]), np.array(model.vectors.leading)
    if header.classification:
        of = np.repeat(np.arange(header.nr_class), header.nr_sv)
        functions = [(p, [(i, j - 1), (j, i)]) for p, i, j in header.class_pairs]
    else:
        of, functions = np.zeros(header.total_sv, int), [(0, [(0, 0)])]
    for p, members in functions:
        mine = [(np.flatnonzero(~held & (of == of_class)), column) for of_class, column in members]
        rows = np.concatenate([each for each, _ in mine])
        if not len(rows):
            continue
        start = np.concatenate([out[each, column] for each, column in mine])
        found = _solution(x[rows], header.gamma, values[rows, p], start)
        for each, column in mine:
            out[each, column], found = found[: len(each)], found[len(each) :]
    chosen = np.flatnonzero(~held)
    vectors = model.vectors.select(chosen.tolist())
    vectors = _native.Chunk.from_csr(out[chosen], vectors.indptr, vectors.indices, vectors.values)
    counts = np.bincount(of[chosen], minlength=header.nr_class).tolist() if header.classification else None
    return ExactModel(_native.LibsvmFile(header.changed(nr_sv=counts, total_sv=len(chosen)), vectors), model.path)


def _solution(x: Matrix, gamma: float, values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return c with K(x, x) c = values, by conjugate gradients from `start`.

    Parts of `start` that no value shows stay as they are.
    """
    kernel, n = gaussian(x, gamma), len(values)
    size = max(float(np.abs(values).max()), float(np.abs(start).max()))
    if size > _LARGE:  # squares of the residual would overflow
        return size * _solution(x, gamma, values / size, start / size)
    if n <= _STORED:
        k = kernel(x)
        k[np.diag_indices(n)] += _RIDGE
    else:
        dense = np.asarray(x.todense()) if hasattr(x, "todense") else x

        def times(v: np.ndarray) -> np.ndarray:
            return kernel.times(dense, v.reshape(n, 1))[:, 0] + _RIDGE * v.ravel()

        k = LinearOperator((n, n), times, dtype=float)
    return cg(k, values, x0=start, rtol=_TOLERANCE, maxiter=_ITERATIONS)[0]

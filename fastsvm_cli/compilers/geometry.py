"""Exact model -> geometry model: which points a row meets, in which order (DeCoste, section 5)."""

from math import ceil, sqrt
from typing import Callable

import numpy as np
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli.bounds import UNIT
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.geometry import GeometryModel

SEQUENCES = ("greedy", "sgma")
_CANDIDATES = 59  # of sparse greedy matrix approximation: the best of 59 is among the best 5 % with probability 0.95
_INDEPENDENT = 1e-6  # a point whose squared distance from the span of the others is a smaller share of its own is left out
_MOST_POINTS = 2048


def compile_geometry(
    model: ExactModel,
    *,
    fingerprint: str,
    sequence: str = "greedy",
    points: "int | None" = None,
    folded: "list[dict] | None" = None,
    seed: int = 0,
    on_progress: "Callable[[float], None] | None" = None,
) -> GeometryModel:
    """Choose the points.

    sequence: "greedy", every step the support vector that takes most from the |w_perp|^2 of all decision functions, c_p^2 / d_p with c the residual of K a
    and d the residual diagonal of K; or "sgma", of 59 drawn ones the one that takes most from the residual of the whole kernel matrix (Smola and Schoelkopf,
    2000, which the paper uses). points: how many at most; default `default_points`. folded: vectors {index: value} that come first (section 6.1).
    seed: of what is drawn. on_progress: called with the share done. Raises ModelFormatError for kernels that are no inner product.
    """
    if not model.kernel.semidefinite:
        raise ModelFormatError(model.path, _refusal(model))
    vectors = model.vectors
    n, pairs = vectors.rows, model.pairs
    folded = folded or []
    all_vectors = _with(vectors, folded)
    columns, place = np.unique(np.asarray(all_vectors.indices), return_inverse=True)
    x = scipy.sparse.csr_matrix((np.asarray(all_vectors.values), place, np.asarray(all_vectors.indptr)), shape=(all_vectors.rows, len(columns)))
    points = min(default_points(model) if points is None else points, n) + len(folded)

    # b_i = <w, phi(x_i)> = f(x_i) + rho, by the exact model, whose rounding radius bounds their error.
    decisions = _native.Decisions(pairs, True)
    model.evaluator.fast_values(all_vectors, decisions)
    rho = np.array(model.header.rho)
    values, radius = np.asarray(decisions.value), np.asarray(decisions.radius)
    b = values + rho  # (n, pairs)
    if not (np.all(np.isfinite(b)) and np.all(np.isfinite(radius))):
        raise ModelFormatError(model.path, "a decision value at a support vector overflows: scale the data")
    error = radius + UNIT * (np.abs(b) + np.abs(values))
    squared_norm = _squared_norms(model, b[:n], error[:n])

    chosen = _Chosen(model.kernel, x, points)
    residual = b.copy()
    # Every decision function counts alike: by the share of its own |w|^2.
    weights = 1 / np.maximum(squared_norm, np.finfo(float).tiny)
    rng = np.random.default_rng(seed)
    order = []
    for step in range(points):
        if step < len(folded):
            p = n + step
            if chosen.diagonal[p] <= _INDEPENDENT * chosen.self_kernel[p]:
                continue
        else:
            free = chosen.diagonal[:n] > _INDEPENDENT * chosen.self_kernel[:n]
            if not free.any():
                break
            if sequence == "greedy":
                with np.errstate(divide="ignore", invalid="ignore"):
                    p = int(np.argmax(np.where(free, (residual[:n] ** 2 @ weights) / chosen.diagonal[:n], -1.0)))
            else:
                p = _best_of(rng.choice(np.flatnonzero(free), min(_CANDIDATES, int(free.sum())), replace=False), chosen)
        column = chosen.add(p)
        residual -= np.outer(column, residual[p] / column[p])
        order.append(p)
        if on_progress:
            on_progress((step + 1) / points)
    return GeometryModel(
        model, fingerprint, sequence=sequence, all_vectors=all_vectors, points=order, b=np.ascontiguousarray(b[order]).ravel(), squared_norm=squared_norm.tolist(),
        b_error=(error[order].max(axis=0) if order else np.zeros(pairs)).tolist(),
    )  # fmt: skip


def default_points(model: ExactModel) -> int:
    """The paper's threshold (section 4.5): beyond max(d, sqrt(d L)) points, L kernel values are cheaper. d: the entries of a support vector."""
    vectors = model.vectors
    d = len(vectors.indices) / max(vectors.rows, 1)
    return min(vectors.rows, _MOST_POINTS, ceil(max(d, sqrt(d * vectors.rows))))


def folded_vectors(model: ExactModel) -> "list[dict]":
    """w+ and w- of a linear model, each a weighted mean of its support vectors (eqs. 7 and 34): [{index: value}]."""
    vectors, a = model.vectors, np.asarray(model.vectors.labels)[:, 0]
    columns, place = np.unique(np.asarray(vectors.indices), return_inverse=True)
    x = scipy.sparse.csr_matrix((np.asarray(vectors.values), place, np.asarray(vectors.indptr)), shape=(vectors.rows, len(columns)))
    out = []
    for side in (1, -1):
        weight = np.maximum(side * a, 0)
        if weight.sum() > 0:
            mean = x.T @ (weight / weight.sum())
            out.append({int(index): float(value) for index, value in zip(columns, mean) if value})
    return out


def _refusal(model: ExactModel) -> str:
    kernel = model.kernel
    if kernel.type == "precomputed":
        return "a precomputed kernel found: name its vectors with --vectors and its kernel with --kernel"
    if kernel.type in ("polynomial", "rbf", "exponential"):
        what = "gamma" if kernel.gamma < 0 else "coef0"
        return f"a {kernel.type} kernel with negative {what} found, which is no inner product of features: the geometry method has no space to measure in"
    return f"a {kernel.type} kernel found, which is no inner product of features: the geometry method has no space to measure in"


def _with(vectors: _native.Chunk, more: "list[dict]") -> _native.Chunk:
    if not more:
        return vectors
    zeros = " ".join(["0"] * vectors.leading)
    lines = "".join(" ".join([zeros, *(f"{index}:{value!r}" for index, value in sorted(row.items()))]) + "\n" for row in more)
    return _native.parse(_native.format_rows(vectors) + lines.encode(), leading=vectors.leading)[0]


def _squared_norms(model: ExactModel, b: np.ndarray, error: np.ndarray) -> np.ndarray:
    """|w|^2 = a.(K a) of every decision function, rounded up: (pairs)."""
    a = pair_coefficients(model)
    n = len(b)
    total = np.einsum("ip,ip->p", a, b)
    size = np.einsum("ip,ip->p", np.abs(a), np.abs(b))
    return np.maximum(0.0, total) + (np.einsum("ip,ip->p", np.abs(a), error) + (n + 8) * UNIT * size) * (1 + 1e-9)


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


class _Chosen:
    """A partial Cholesky factorisation K ~ L L' over all vectors, a column per chosen one. diagonal: of K - L L'."""

    def __init__(self, kernel, x, most: int):
        self.kernel, self.x = kernel, x
        self.norms = np.asarray(x.multiply(x).sum(axis=1)).ravel()
        self.dense = x.toarray() if x.shape[0] * x.shape[1] <= 1 << 26 else None
        self.self_kernel = np.maximum(self._from_dots(self.norms, self.norms, self.norms), np.finfo(float).tiny)
        self.diagonal = self.self_kernel.copy()
        self.factor = np.zeros((x.shape[0], most), order="F")
        self.count = 0

    def residual_columns(self, rows: np.ndarray) -> np.ndarray:
        """(K - L L')[:, rows]"""
        if self.dense is not None:
            dots = self.dense @ self.dense[rows].T
        else:
            dots = np.asarray((self.x @ self.x[rows].T).todense())
        values = self._from_dots(dots, self.norms[:, None], self.norms[rows])
        return values - self.factor[:, : self.count] @ self.factor[rows, : self.count].T

    def add(self, p: int) -> np.ndarray:
        """Take row p; returns its column of L."""
        column = self.residual_columns(np.array([p]))[:, 0] / sqrt(self.diagonal[p])
        self.factor[:, self.count] = column
        self.count += 1
        self.diagonal = np.maximum(0.0, self.diagonal - column**2)
        self.diagonal[p] = 0.0
        return column

    def _from_dots(self, dots, norms, other):
        kernel = self.kernel
        if kernel.type == "linear":
            return dots
        if kernel.type == "polynomial":
            return (kernel.gamma * dots + kernel.coef0) ** kernel.degree
        if kernel.type == "normalized_polynomial":
            def power(t):
                return (kernel.gamma * t + kernel.coef0) ** kernel.degree

            return power(dots) / np.sqrt(power(norms) * power(other))
        squares = np.maximum(0.0, norms + other - 2 * dots)
        return np.exp(-kernel.gamma * (squares if kernel.type == "rbf" else np.sqrt(squares)))


def _best_of(candidates: np.ndarray, chosen: _Chosen) -> int:
    columns = chosen.residual_columns(candidates)
    return int(candidates[np.argmax((columns**2).sum(axis=0) / chosen.diagonal[candidates])])

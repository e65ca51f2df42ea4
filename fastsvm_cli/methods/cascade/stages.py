"""Candidate stages of a cascade: least squares fits of the decision functions.

Two families: polynomials of the row, of degree 1 to 3; and a linear function with kernel values of 32, 64, ... support
vectors, each set a part of the next, so that a row's kernel values serve all stages. Vectors are chosen by orthogonal
matching pursuit (Pati, Rezaiifar and Krishnaprasad 1993) on the normal equations."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from fastsvm_cli import _native
from fastsvm_cli.errors import FileError, ModelFormatError
from fastsvm_cli.methods.approx.costs import coefficient_count, packed_size
from fastsvm_cli.methods.feature_space import matrix
from fastsvm_cli.models.base import ExactModel

#: Numbers of vectors.
SIZES = (32, 64, 128, 256, 512, 1024)
_POINTS = 8192  # of the rows, and of the support vectors, that a fit sees
_CANDIDATES = 2048  # support vectors to choose from
_SUPPORT_VECTOR_WEIGHT = 0.3  # against 1 of a row: most rows lie farther from the border
_LINEAR_FEATURES = 1024  # with more, a polynomial is a constant
_COEFFICIENTS = 2500  # most per decision function
_POLYNOMIAL_PAIRS = 6  # with more decision functions, kernel values are cheaper than degrees 2 and 3
_RIDGE = 1e-7  # relative to the diagonal of the normal equations
_RANK = 1e-7  # a candidate must keep this share of its square
_STEP = 1024  # points at a time
_FARTHEST = 1e6  # of a row to fit: spreads of the support vectors from their mean, in a feature
_LARGEST = 1e100  # number of a model


class Candidates:
    """Stages by increasing cost. chosen: support vectors of the largest. longest: largest squared norm of the rows."""

    def __init__(self, chosen: "list[int]", features: "list[int]", center: np.ndarray, longest: float):
        self.chosen, self.features, self.center, self.longest = chosen, features, center, longest
        self.stages: list[_native.CascadeStage] = []

    def cascade(self, model: ExactModel, stages: "list[_native.CascadeStage] | None" = None) -> _native.Cascade:
        its = self.stages if stages is None else stages
        return _native.Cascade(model.svm_model, self.chosen, self.features, self.center, self.longest, its)


def fit_stages(
    model: ExactModel,
    rows: _native.Chunk,
    held_out: _native.Chunk,
    path: str,
    rng: np.random.Generator,
    on_progress: "Callable[[float], None] | None" = None,
) -> Candidates:
    """Return candidates fitted to the model's values at `rows` and at its support vectors, in units of their errors at
    the rows `held_out`. Far outliers are left out. path: of the rows. Raise ModelFormatError or FileError for numbers
    too large."""
    points = _Points(model, rows, path, rng)
    rows, held_out = points.without_outliers(rows), points.without_outliers(held_out)
    longest = max(max(each.squared_norms, default=0.0) for each in (rows, held_out))
    candidates = _Candidates(model, points, rng)
    out = Candidates([], points.features, points.center, longest)
    values = exact_values(model, held_out)
    near = np.abs(values) <= np.median(np.abs(values), axis=0)

    def add(degree: int, weights: np.ndarray, fitted: np.ndarray, vectors: int) -> None:
        # The error where a sign is in doubt: among the nearer half of the rows.
        errors = np.where(near, fitted - values, 0)
        scale = np.sqrt((errors**2).sum(0) / near.sum(0)) + 1e-12 * (1 + np.abs(values).max(0))
        weights = weights / scale
        terms = len(weights) - vectors
        numbers = points.tensors(degree, weights[:terms]), weights[terms:].T
        # The file has single precision.
        with np.errstate(over="ignore"):
            polynomial, coefficients = (each.astype(np.float32).astype(float).ravel() for each in numbers)
        if np.isfinite(polynomial).all() and np.isfinite(coefficients).all():
            out.stages.append(_native.CascadeStage(degree, vectors, np.inf, polynomial, coefficients))

    degrees = points.degrees
    if degrees:
        basis = points.basis(max(degrees))
        gram, product = points.normal_equations(basis)
        at_held_out = np.vstack(list(basis(held_out)))
        for degree in degrees:
            terms = coefficient_count(len(points.features), degree)
            ridge = np.diag(_RIDGE * np.diag(gram)[:terms] + 1e-12 * np.trace(gram) / len(gram))
            weights = cho_solve(cho_factor(gram[:terms, :terms] + ridge), product[:terms])
            add(degree, weights, at_held_out[:, :terms] @ weights, 0)
    if on_progress:
        on_progress(0.3)
    if candidates.which:
        linear = points.linear
        basis = candidates.basis(points.basis(linear))
        gram, product = points.normal_equations(basis)
        if on_progress:
            on_progress(0.6)
        terms = coefficient_count(len(points.features), linear)
        pursuit = _Pursuit(gram, product, terms, max(size for size in SIZES if size <= len(candidates.which)))
        if on_progress:
            on_progress(0.8)
        out.chosen = [candidates.which[at - terms] for at in pursuit.order[pursuit.forced :]]
        columns = pursuit.order
        at_held_out = np.vstack([each[:, columns] for each in basis(held_out)])
        for size in SIZES:
            count = pursuit.forced + size
            if count > len(columns):
                break
            solved = pursuit.weights(count)
            weights = np.zeros((terms + size, solved.shape[1]))
            weights[columns[: pursuit.forced]] = solved[: pursuit.forced]
            weights[terms:] = solved[pursuit.forced :]
            add(linear, weights, at_held_out[:, :count] @ solved, size)
    return out


def exact_values(model: ExactModel, rows: _native.Chunk) -> np.ndarray:
    """Return decision values: (rows, pairs)."""
    decisions = _native.Decisions(model.pairs, True)
    model.evaluator.fast_values(rows, decisions)
    return np.array(decisions.value).reshape(rows.rows, model.pairs)


#: Yields blocks of the terms' values at rows: (rows, terms).
Basis = Callable[[_native.Chunk], "Iterator[np.ndarray]"]


class _Points:
    """Rows to fit, with targets (n, pairs) and weights (n)."""

    def __init__(self, model: ExactModel, rows: _native.Chunk, path: str, rng: np.random.Generator):
        self.path, vectors = path, model.vectors
        if not max(vectors.squared_norms) < _LARGEST:
            raise ModelFormatError(model.path, "support vectors too long for a fit found: scale the data")
        self.pairs, self.classes = model.pairs, model.header.nr_class
        x, features = matrix(vectors)
        self.features = features.tolist()
        d = len(self.features)
        self.linear = int(d <= _LINEAR_FEATURES)
        self.center, self.spread = np.zeros(d), np.ones(d)
        if self.linear:
            self.center = np.asarray(x.mean(axis=0)).ravel()
            spread = np.sqrt(np.maximum(np.asarray(x.multiply(x).mean(axis=0)).ravel() - self.center**2, 0))
            size = np.abs(self.center)
            # The mean square less the square of the mean loses half of the digits.
            self.spread = np.where(spread > 1e-12 + 1e-7 * size, spread, np.maximum(size, 1.0))
        parts = [self.without_outliers(_sample(part, _POINTS, rng)) for part in (rows, vectors)]
        self.parts = [(part, exact_values(model, part)) for part in parts]
        if not max(np.abs(values).max() for _, values in self.parts) < _LARGEST:
            raise ModelFormatError(model.path, "decision values too large for a fit found: scale the data")
        nearest = np.abs(np.vstack([values for _, values in self.parts])).min(axis=1)
        self._near = max(float(np.median(nearest)) / 2, 1e-100) if self.pairs == 1 else None

    @property
    def degrees(self) -> "list[int]":
        if not self.linear:
            return []
        d, points = len(self.features), sum(part.rows for part, _ in self.parts)
        highest = 3 if d and self.pairs <= _POLYNOMIAL_PAIRS else 1
        return [
            degree
            for degree in range(1, highest + 1)
            if coefficient_count(d, degree) <= min(_COEFFICIENTS, points / 3) or degree == 1
        ]

    def without_outliers(self, rows: _native.Chunk) -> _native.Chunk:
        """Return the rows whose monomials do not overflow, nor drown the others'. Raise FileError if there are none."""
        with np.errstate(over="ignore"):
            near = [(np.abs(block) <= _FARTHEST).all(1) for block in self.basis(self.linear)(rows)]
        kept = np.isfinite(rows.squared_norms) & np.concatenate(near)
        if not kept.any():
            raise FileError(self.path, "rows far from the support vectors found, expected rows like those to predict")
        return rows if kept.all() else rows.select(np.flatnonzero(kept).tolist())

    def basis(self, degree: int) -> Basis:
        """Return monomials up to `degree`, as packed as tensors, of standardized features."""
        features = np.array(self.features)

        def blocks(rows: _native.Chunk) -> "Iterator[np.ndarray]":
            for at in range(0, rows.rows, _STEP):
                some = rows.select(list(range(at, min(at + _STEP, rows.rows))))
                levels = [np.ones((some.rows, 1))]
                if degree:
                    u = (matrix(some, features)[0].toarray() - self.center) / self.spread
                    levels.append(u)
                    for _ in range(2, degree + 1):
                        levels.append(_next_level(u, levels[-1]))
                yield np.hstack(levels)

        return blocks

    def tensors(self, degree: int, weights: np.ndarray) -> np.ndarray:
        """Return packed symmetric tensors about the center, (pairs, terms), of weights (terms, pairs) of monomials."""
        d = len(self.features)
        scale = [np.ones(1)]
        inverse = (1 / self.spread)[None]
        for k in range(1, degree + 1):
            level = inverse if k == 1 else _next_level(inverse, level)  # type: ignore[has-type]  # noqa: F821
            scale.append(level.ravel() / _orderings(d, k))
        return np.ascontiguousarray((weights * np.concatenate(scale)[:, None]).T)

    def normal_equations(self, basis: Basis) -> "tuple[np.ndarray, np.ndarray]":
        """Return weighted sums of the terms' products, (terms, terms), and with the targets, (terms, pairs)."""
        gram, product = 0.0, 0.0
        for (part, values), share in zip(self.parts, (1.0, _SUPPORT_VECTOR_WEIGHT)):
            at = 0
            for block in basis(part):
                targets = values[at : at + len(block)]
                at += len(block)
                weights = np.full(len(block), share)
                if self._near is not None:  # far rows need no precise value
                    weights *= self._near**2 / (self._near**2 + targets[:, 0] ** 2)
                weighted = block * np.sqrt(weights)[:, None]
                gram = gram + weighted.T @ weighted
                product = product + block.T @ (targets * weights[:, None])
        return np.asarray(gram), np.asarray(product)


class _Candidates:
    """Support vectors to choose from."""

    def __init__(self, model: ExactModel, points: _Points, rng: np.random.Generator):
        self.which: list[int] = []
        if model.kernel.type != "rbf" or not 1e-100 < model.kernel.gamma < 1e100:  # SingleTiles::holds
            return
        n = model.vectors.rows
        self.which = sorted(rng.choice(n, min(n, _CANDIDATES), replace=False).tolist())
        if len(self.which) < SIZES[0]:
            self.which = []
            return
        self._kernel = _native.KernelMatrix(model.kernel, model.vectors.select(self.which))

    def basis(self, before: Basis) -> Basis:
        """Return the terms of `before`, then kernel values."""

        def blocks(rows: _native.Chunk) -> "Iterator[np.ndarray]":
            at = 0
            for block in before(rows):
                out = np.empty((len(block), len(self.which)))
                self._kernel.values(rows.select(list(range(at, at + len(block)))), out)
                at += len(block)
                yield np.hstack([block, out])

        return blocks


class _Pursuit:
    """Orthogonal matching pursuit: the first `forced` terms (those of full rank), then the term that takes most from
    the residuals of all targets, up to `most` times.

    order: of the terms. A partial Cholesky factor solves the equations of every prefix."""

    def __init__(self, gram: np.ndarray, product: np.ndarray, forced: int, most: int):
        terms = len(gram)
        diagonal = np.diag(gram) * (1 + _RIDGE) + 1e-12 * np.trace(gram) / terms
        left, rest = diagonal.copy(), product.copy()
        factor = np.zeros((terms, forced + most))
        solved: list[np.ndarray] = []
        self.order: list[int] = []
        used = np.zeros(terms, bool)
        self.forced = 0

        def take(term: int) -> None:
            nonlocal rest
            q = len(self.order)
            root = np.sqrt(left[term])
            column = gram[:, term].copy()
            column[term] = diagonal[term]
            column = (column - factor[:, :q] @ factor[term, :q]) / root
            factor[:, q] = column
            solved.append(rest[term] / root)
            rest -= np.outer(column, solved[-1])
            np.maximum(left - column**2, 0, out=left)
            self.order.append(term)
            used[term] = True

        for term in range(forced):
            if left[term] > _RANK * diagonal[term]:
                take(term)
        self.forced = len(self.order)
        used[:forced] = True
        for _ in range(most):
            gain = np.where(
                used | (left < _RANK * diagonal), -1.0, (rest**2).sum(1) / np.maximum(left, _RANK * diagonal)
            )
            best = int(np.argmax(gain))
            if gain[best] <= 0:
                break
            take(best)
        self._factor, self._solved = factor, np.array(solved)

    def weights(self, count: int) -> np.ndarray:
        """Return the solution of the first `count` terms of `order`: (count, targets)."""
        return solve_triangular(self._factor[self.order[:count], :count], self._solved[:count], lower=True, trans="T")


def _sample(rows: _native.Chunk, most: int, rng: np.random.Generator) -> _native.Chunk:
    if rows.rows <= most:
        return rows
    return rows.select(sorted(rng.choice(rows.rows, most, replace=False).tolist()))


def _next_level(u: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the monomials of one degree more than `level`'s, packed: u_j times those of columns j, j + 1, ...."""
    d = u.shape[1]
    starts = _starts(d, level.shape[1])
    return np.hstack([u[:, [j]] * level[:, starts[j] :] for j in range(d)])


def _starts(d: int, size: int) -> "list[int]":
    """Return where monomials without columns below j begin, in a packed level of this size."""
    degree = next(k for k in range(1, 4) if packed_size(k, d) == size)
    return [size - packed_size(degree, d - j) for j in range(d)]


def _orderings(d: int, degree: int) -> np.ndarray:
    """Return the number of distinct orders of each packed monomial's factors."""
    from math import factorial

    if degree == 1:
        return np.ones(d)
    from itertools import combinations_with_replacement

    indices = np.array(list(combinations_with_replacement(range(d), degree)))
    out = np.full(len(indices), float(factorial(degree)))
    run = np.ones(len(indices))
    for k in range(1, degree):
        run = np.where(indices[:, k] == indices[:, k - 1], run + 1, 1)
        out /= run
    return out

"""Candidate stages of a cascade: least squares fits of the decision functions.

Polynomials of degree 1 to 3; and a linear function with kernel values of 16, 32, ... support vectors, each set in the
next, so that kernel values serve later stages, chosen by orthogonal matching pursuit (Pati, Rezaiifar and Krishnaprasad
1993) on the normal equations. Times are measured.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from time import thread_time
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from fastsvm_cli import _native
from fastsvm_cli.errors import FileError, ModelFormatError
from fastsvm_cli.export.description import monomials, orderings
from fastsvm_cli.methods import Progress, silent
from fastsvm_cli.methods.approx.expansion import coefficient_count
from fastsvm_cli.methods.feature_space import fast_values, matrix
from fastsvm_cli.models import LABELS, ExactModel, Model, parse_model
from fastsvm_cli.prediction import threads_here

_TIMINGS = 5
_STAGE_ROWS, _ROWS = 1024, 4000  # to time stages on, and whole models
_HARD = 8  # one of so many rows
#: Nanoseconds to read a number of a stage.
_STAGE_NUMBER_NS = 60.0

#: A run, and its number of operations, about.
Run = tuple[Callable[[], object], float]


def seconds_of(runs: "Sequence[Run]") -> "list[float]":
    """Return processor seconds of each run on one thread, the least of several, by turns.

    Tests count operations instead: no result of theirs may depend on the machine.
    """
    least = [float("inf")] * len(runs)
    with threads_here(1):
        for _ in range(_TIMINGS):
            for at, (run, _operations) in enumerate(runs):
                start = thread_time()
                run()
                least[at] = min(least[at], max(thread_time() - start, 1e-9))  # a coarse clock may not move
    return least


class StageCosts:
    """Seconds of a row in each stage and the exact model, with its share in reading the stages."""

    def __init__(self, left: Model, candidates: "Candidates", rows: _native.Chunk, margins: np.ndarray, job: int):
        """Time all candidates. left: the cascade that leaves every row after the first. job: rows of a run."""
        model, some = candidates.model, _spread(rows, _STAGE_ROWS)
        # The exact model gets the rows of small margins, whose labels take longer.
        hard = _spread(rows.select(np.sort(np.argsort(margins)[: -(-rows.rows // _HARD)]).tolist()), _STAGE_ROWS)
        stages, count = candidates.stages, len(candidates.stages)
        # Kernel values of one stage serve the next.
        pairs = [(a, b) for a, b in combinations(range(count), 2) if 0 < stages[a].vectors < stages[b].vectors]
        decisions = left.decisions(LABELS)
        first = candidates.cascade(stages[:1])
        of_first = _operations(model, stages[:1], hard)
        runs: list[Run] = [
            (partial(first.label, hard), of_first),
            (partial(left.decision_values, hard, decisions, LABELS), _exact_operations(model, hard) + of_first),
        ]
        for several in [*((each,) for each in range(count)), *pairs]:
            its = [stages[each] for each in several]
            runs.append((partial(candidates.cascade(its).label, some), _operations(model, its, some)))
        before, whole, *others = (each / some.rows for each in seconds_of(runs))
        self._alone = others[:count]
        self._after = {pair: max(both - self._alone[pair[0]], 0.0) for pair, both in zip(pairs, others[count:])}
        self._exact = max(whole - before, 0.0)
        self._reading = [
            1e-9 * _STAGE_NUMBER_NS / job * (len(each.polynomial) + len(each.coefficients)) for each in stages
        ]

    def of(self, stages: "tuple[int, ...]", reached: "Sequence[float]") -> float:
        """Return seconds of a row. reached: share of rows that reach each stage, and the exact model."""
        total = reached[-1] * self._exact
        for before, stage, share in zip((-1, *stages), stages, reached):
            total += share * self._after.get((before, stage), self._alone[stage]) + self._reading[stage]
        return total


def gain_of(exact: ExactModel, cascade: Model, reached: "Sequence[float]", rows: _native.Chunk, job: int) -> float:
    """Return the exact model's time over the cascade's for `job` rows, with reading. reached: as in StageCosts.of."""
    some = _spread(rows, min(rows.rows, _ROWS))
    text, *models = _native.format_rows(some), exact.to_text(), cascade.to_text()
    its, mine = exact.decisions(LABELS), cascade.decisions(LABELS)
    whole = _exact_operations(exact, some)
    through = sum(
        share * _operations(exact, cascade.stages[at : at + 1], some) for at, share in enumerate(reached[:-1])
    )
    reading, all_exact, staged, *loading = seconds_of(
        [
            (partial(_native.parse, text), 20.0 * len(text)),
            (partial(exact.decision_values, some, its, LABELS), whole),
            (partial(cascade.decision_values, some, mine, LABELS), through + reached[-1] * whole),
            *((partial(parse_model, each, cascade.path), 20.0 * len(each)) for each in models),
        ]
    )
    its_loading, my_loading = (each * some.rows / job for each in loading)
    return (reading + all_exact + its_loading) / (reading + staged + my_loading)


def _spread(rows: _native.Chunk, count: int) -> _native.Chunk:
    return rows if rows.rows == count else rows.select([at * rows.rows // count for at in range(count)])


def _exact_operations(model: ExactModel, rows: _native.Chunk) -> float:
    return float(model.header.total_sv * len(rows.indices))


def _operations(model: ExactModel, stages: "Sequence[_native.CascadeStage]", rows: _native.Chunk) -> float:
    vectors = max(each.vectors for each in stages) * len(rows.indices)
    others = max(model.header.nr_class - 1, 1) / model.pairs  # a row's winner has so many of the pairs
    numbers = sum(len(each.coefficients) + len(each.polynomial) for each in stages)
    return vectors + rows.rows * numbers * others


#: Numbers of vectors.
SIZES = (16, 32, 64, 128, 256, 512)
_POINTS = 8192  # of the rows, and of the support vectors, that a fit sees
_CANDIDATES = 1024  # support vectors to choose from
_SUPPORT_VECTOR_WEIGHT = 0.3  # against 1 of a row: most rows lie farther from the border
_LINEAR_FEATURES = 1024  # with more, a polynomial is a constant
_COEFFICIENTS = 2000  # most per decision function
_POLYNOMIAL_PAIRS = 6  # with more decision functions, kernel values are cheaper than degrees 2 and 3
_RIDGE = 1e-7  # relative to the diagonal of the normal equations
_RANK = 1e-7  # a candidate must keep this share of its square
_STEP = 512  # points at a time
_FARTHEST = 1e6  # of a row to fit: spreads of the support vectors from their mean, in a feature
_LARGEST = 1e100  # number of a model


class Candidates:
    """Stages by increasing cost. chosen: support vectors of the largest. longest: largest squared norm of the rows."""

    def __init__(self, model: ExactModel, points: "_Points", longest: float):
        self.model, self.longest = model, longest
        self.features, self.center = points.features, points.center
        self.chosen: list[int] = []
        self.stages: list[_native.CascadeStage] = []

    def cascade(self, stages: "list[_native.CascadeStage] | None" = None) -> _native.Cascade:
        """Return the core's cascade of these stages; default: all."""
        its = self.stages if stages is None else stages
        return _native.Cascade(self.model.file, self.chosen, self.features, self.center, self.longest, its)

    def add(self, points: "_Points", degree: int, weights: np.ndarray, vectors: int) -> None:
        """Add a stage, unless it overflows. weights: (terms, pairs), those of the vectors last."""
        terms = len(weights) - vectors
        numbers = points.tensors(degree, weights[:terms]), weights[terms:].T
        # The file has single precision.
        with np.errstate(over="ignore"):
            polynomial, coefficients = (each.astype(np.float32).astype(float).ravel() for each in numbers)
        if np.isfinite(polynomial).all() and np.isfinite(coefficients).all():
            self.stages.append(_native.CascadeStage(degree, vectors, np.inf, polynomial, coefficients))


def fit_stages(
    model: ExactModel,
    rows: _native.Chunk,
    held_out: _native.Chunk,
    path: str,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> Candidates:
    """Return candidates fitted at `rows`, without far outliers, and at the support vectors.

    Their unit is their error at the rows `held_out`.
    """
    points = _Points(model, rows, path, rng)
    rows, held_out = points.without_outliers(rows), points.without_outliers(held_out)
    longest = max(max(each.squared_norms, default=0.0) for each in (rows, held_out))
    out = Candidates(model, points, longest)
    errors = _Errors(model, held_out)
    for degree, weights, scale in _polynomials(points, errors):
        out.add(points, degree, weights / scale, 0)
    on_progress(0.3)
    which = _candidate_vectors(model, rng)
    if which:
        _add_vectors(out, points, which, errors, on_progress)
    return out


def _polynomials(points: "_Points", errors: "_Errors") -> "Iterator[tuple[int, np.ndarray, np.ndarray]]":
    if not points.degrees:
        return
    basis = points.basis(max(points.degrees))
    gram, product = points.normal_equations(basis)
    fits = []
    for degree in points.degrees:
        terms = coefficient_count(len(points.features), degree)
        ridge = np.diag(_RIDGE * np.diag(gram)[:terms] + 1e-12 * np.trace(gram) / len(gram))
        fits.append(cho_solve(cho_factor(gram[:terms, :terms] + ridge, overwrite_a=True), product[:terms]))
    yield from zip(points.degrees, fits, errors.scales(basis, [(slice(len(weights)), weights) for weights in fits]))


def _candidate_vectors(model: ExactModel, rng: np.random.Generator) -> "list[int]":
    if model.kernel.type != "rbf" or not 1e-100 < model.kernel.gamma < 1e100:  # SingleTiles::holds
        return []
    n = model.vectors.rows
    which = sorted(rng.choice(n, min(n, _CANDIDATES), replace=False).tolist())
    return which if len(which) >= SIZES[0] else []


def _add_vectors(
    out: Candidates, points: "_Points", which: "list[int]", errors: "_Errors", on_progress: Progress
) -> None:
    model, polynomials = out.model, points.basis(points.linear)
    kernel = _native.KernelMatrix(model.kernel, model.vectors.select(which))

    def basis(rows: _native.Chunk) -> "Iterator[tuple[slice, np.ndarray]]":
        for mine, block in polynomials(rows):
            values = np.empty((len(block), len(which)))
            kernel.values(rows.slice(mine.start, mine.stop), values)
            yield mine, np.hstack([block, values])

    gram, product = points.normal_equations(basis)
    on_progress(0.6)
    terms = coefficient_count(len(points.features), points.linear)
    pursuit = _Pursuit(gram, product, terms, max(size for size in SIZES if size <= len(which)))
    on_progress(0.8)
    order, forced = pursuit.order, pursuit.forced
    out.chosen = [which[at - terms] for at in order[forced:]]
    sizes = [size for size in SIZES if forced + size <= len(order)]
    fits = [pursuit.weights(forced + size) for size in sizes]
    scales = errors.scales(basis, [(order[: len(solved)], solved) for solved in fits])
    for size, solved, scale in zip(sizes, fits, scales):
        weights = np.zeros((terms + size, solved.shape[1]))
        weights[order[:forced]] = solved[:forced]
        weights[terms:] = solved[forced:]
        out.add(points, points.linear, weights / scale, size)


class _Errors:
    def __init__(self, model: ExactModel, rows: _native.Chunk):
        self._rows, self._values = rows, fast_values(model, rows)

    def scales(self, basis: "Basis", fits: "list[tuple[Any, np.ndarray]]") -> "list[np.ndarray]":
        # Per fit (terms, weights) the errors, (pairs): root mean squares over the rows nearer to 0
        sizes = np.abs(self._values)
        near = sizes <= np.median(sizes, axis=0)
        sums = [np.zeros(sizes.shape[1]) for _ in fits]
        for rows, block in basis(self._rows):
            for total, (terms, weights) in zip(sums, fits):
                total += (np.where(near[rows], block[:, terms] @ weights - self._values[rows], 0) ** 2).sum(0)
        least = 1e-12 * (1 + sizes.max(0))
        return [np.sqrt(total / near.sum(0)) + least for total in sums]


#: Yields some rows, and the terms' values at these: (rows, terms).
Basis = Callable[[_native.Chunk], "Iterator[tuple[slice, np.ndarray]]"]


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
        self.parts = [(part, fast_values(model, part)) for part in parts]
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
        # Rows whose monomials do not overflow, nor drown the others'
        with np.errstate(over="ignore"):
            near = [(np.abs(block) <= _FARTHEST).all(1) for _, block in self.basis(self.linear)(rows)]
        usable = np.isfinite(rows.squared_norms) & np.concatenate(near)
        if not usable.any():
            raise FileError(self.path, "rows far from the support vectors found, expected rows like those to predict")
        return rows if usable.all() else rows.select(np.flatnonzero(usable).tolist())

    def basis(self, degree: int) -> Basis:
        features = np.array(self.features)
        products = [monomials(k, len(features)) for k in range(1, degree + 1)]

        def blocks(rows: _native.Chunk) -> "Iterator[tuple[slice, np.ndarray]]":
            for at in range(0, rows.rows, _STEP):
                some = rows.slice(at, min(at + _STEP, rows.rows))
                levels = [np.ones((some.rows, 1))]
                if degree:
                    u = (matrix(some, features)[0].toarray() - self.center) / self.spread
                    levels += [_level(u, each) for each in products]
                yield slice(at, at + some.rows), np.hstack(levels)

        return blocks

    def tensors(self, degree: int, weights: np.ndarray) -> np.ndarray:
        # Packed symmetric tensors about the center, (pairs, terms)
        d = len(self.features)
        scale = [np.ones(1)]
        inverse = (1 / self.spread)[None]
        for k in range(1, degree + 1):
            scale.append(_level(inverse, monomials(k, d)).ravel() / orderings(k, d))
        return np.ascontiguousarray((weights * np.concatenate(scale)[:, None]).T)

    def normal_equations(self, basis: Basis) -> "tuple[np.ndarray, np.ndarray]":
        # (terms, terms) and (terms, pairs), the latter with the targets
        gram: np.ndarray | None = None
        for (part, values), share in zip(self.parts, (1.0, _SUPPORT_VECTOR_WEIGHT)):
            for mine, block in basis(part):
                targets = values[mine]
                weights = np.full(len(block), share)
                if self._near is not None:  # far rows need no precise value
                    weights *= self._near**2 / (self._near**2 + targets[:, 0] ** 2)
                weighted = block * np.sqrt(weights)[:, None]
                if gram is None:
                    gram, product = np.zeros((block.shape[1],) * 2), np.zeros((block.shape[1], self.pairs))
                gram += weighted.T @ weighted
                product += block.T @ (targets * weights[:, None])
        assert gram is not None  # there are points
        return gram, product


class _Pursuit:
    """Orthogonal matching pursuit.

    Takes the first `forced` terms (those of full rank), then those that take most from all targets' residuals, up to
    `most` times. A partial Cholesky factor solves every prefix of `order`.
    """

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
        # (count, targets)
        return solve_triangular(self._factor[self.order[:count], :count], self._solved[:count], lower=True, trans="T")


def _sample(rows: _native.Chunk, most: int, rng: np.random.Generator) -> _native.Chunk:
    if rows.rows <= most:
        return rows
    return rows.select(sorted(rng.choice(rows.rows, most, replace=False).tolist()))


def _level(u: np.ndarray, products: np.ndarray) -> np.ndarray:
    # Products of columns of u: (n, products)
    out = u[:, products[:, -1]]
    for at in range(products.shape[1] - 2, -1, -1):
        out = u[:, products[:, at]] * out
    return out

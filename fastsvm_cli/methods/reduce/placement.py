"""Placement of vectors (Suttorp and Igel, sections 2 and 3).

One vector z minimises E(z) = -sum_j Psi_j(z)^2 (eq. 4); then decision functions in parts: starts, optimal coefficients,
final descent on all vectors.
"""

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
import scipy.sparse
from scipy.linalg import cho_factor, cho_solve

from fastsvm_cli import _native
from fastsvm_cli._native import Kernel
from fastsvm_cli.bounds import UNIT
from fastsvm_cli.methods import Progress, part_of, silent
from fastsvm_cli.methods.feature_space import (
    FeatureSpace,
    KernelMatrix,
    Matrix,
    PartialCholesky,
    dense,
    far_mean,
    fast_values,
    matrix,
    moved,
)
from fastsvm_cli.models import ExactModel

_ITERATIONS = 100
_REST_ITERATIONS = 1000  # slow near vectors of both signs
_ETA_PLUS, _ETA_MINUS = 1.2, 0.5
# In kernel lengths.
_FIRST_STEP, _LEAST_STEP, _LARGEST_STEP = 0.01, 1e-7, 1.0
_AT_REST = 1e-5
CLUSTERED = 4000  # limit per side: the kernel matrix is formed


def gaussian(x: Matrix, gamma: float) -> KernelMatrix:
    """Return the RBF kernel values with the rows x."""
    return KernelMatrix(Kernel("rbf", gamma), x)


def kernel_length(gamma: float) -> float:
    """Return the distance at which K is 1/e; 1 if gamma is 0."""
    return gamma**-0.5 if gamma > 0 else 1.0


class WeightedVectors:
    """Vectors x (n, d) with weights a (n, m), in the feature space of an RBF kernel."""

    def __init__(self, x: Matrix, a: np.ndarray, gamma: float):
        self.x, self.a, self.gamma = x, a, gamma

    @cached_property
    def kernel(self) -> KernelMatrix:
        """Kernel values with the vectors."""
        return gaussian(self.x, self.gamma)

    @cached_property
    def moments(self) -> "np.ndarray | None":
        """Moments (a, a x_1, ..., a x_d), (n, 1 + d): products with kernel values give the function and its gradient.

        None for sparse vectors, and for several functions.
        """
        if not isinstance(self.x, np.ndarray) or self.a.shape[1] != 1:
            return None
        return np.concatenate([self.a, self.a * self.x], axis=1)


class Residual(WeightedVectors):
    """Residual Psi - Psi': x (n, d) with weights a (n, m), and z (L, d) with weights -beta (L, m)."""

    def __init__(self, x: Matrix, a: np.ndarray, gamma: float):
        super().__init__(x, a, gamma)
        self.length = kernel_length(gamma)
        self.z, self.beta = np.zeros((0, x.shape[1])), np.zeros((0, a.shape[1]))

    def at(self, z: np.ndarray) -> "tuple[float, np.ndarray, np.ndarray]":
        """Return E(z); its gradient (d), eq. (10); the next z (d) by eq. (6), not finite if undefined."""
        k = self.kernel(z[None])[0]
        far = gaussian(self.z, self.gamma)(z[None])[0]
        if self.moments is not None:
            sums = k @ self.moments
            values = sums[:1] - far @ self.beta  # (1)
            total, mean = sums[0] * values[0], sums[1:] * values[0]
        else:
            values = k @ self.a - far @ self.beta  # (m)
            weight = k * (self.a @ values)
            total, mean = weight.sum(), np.asarray(self.x.T @ weight).ravel()
        other = -far * (self.beta @ values)
        total, mean = total + other.sum(), mean + other @ self.z
        with np.errstate(divide="ignore", invalid="ignore"):
            following = mean / total
        return -float(values @ values), -4 * self.gamma * (mean - total * z), following


def irprop(residual: Residual, start: np.ndarray, iterations: int = _ITERATIONS) -> "tuple[np.ndarray, bool]":
    """Return z after iRprop+ (Igel and Huesken 2003; eq. 11) from `start`, and True."""
    z = start.copy()
    error, gradient, _ = residual.at(z)
    least, largest = _LEAST_STEP * residual.length, _LARGEST_STEP * residual.length
    step, moved = np.full(len(z), _FIRST_STEP * residual.length), np.zeros(len(z))
    before, error_before, best, best_error, idle = np.zeros(len(z)), error, z.copy(), error, 0
    for _ in range(iterations):
        same = gradient * before
        step = np.where(
            same > 0,
            np.minimum(step * _ETA_PLUS, largest),
            np.where(same < 0, np.maximum(step * _ETA_MINUS, least), step),
        )
        moved = np.where(same < 0, -moved if error > error_before else 0.0, -np.sign(gradient) * step)
        before, error_before = np.where(same < 0, 0.0, gradient), error
        z = z + moved
        error, gradient, _ = residual.at(z)
        idle = 0 if error < best_error - 1e-6 * abs(best_error) else idle + 1
        if error < best_error:
            best, best_error = z.copy(), error
        if idle >= 10:
            break
    return best, True


def fixed_point(residual: Residual, start: np.ndarray) -> "tuple[np.ndarray, bool]":
    """Return (z by eq. (6), whether it converged to E < 0). It diverges where weights nearly cancel."""
    z = start.copy()
    for _ in range(_REST_ITERATIONS):
        following = residual.at(z)[2]
        if not np.all(np.isfinite(following)):
            return z, False
        moved = np.linalg.norm(following - z)
        z = following
        if moved <= _AT_REST * residual.length:
            return z, residual.at(z)[0] < 0
    return z, False


def initial_order(
    init: str, x: Matrix, a: np.ndarray, gamma: float, count: int, rng: np.random.Generator
) -> "list[int]":
    """Return rows of x to start from (section 3.1); "random" and "cluster" have both signs in proportion."""
    size = np.abs(a).sum(axis=1)
    if init == "alpha":  # stochastic universal sampling
        ends = np.cumsum(size)
        marks = (rng.random() + np.arange(count)) * ends[-1] / count
        return rng.permutation(np.minimum(np.searchsorted(ends, marks), len(a) - 1)).tolist()
    positive = np.flatnonzero(a.sum(axis=1) > 0)
    negative = np.flatnonzero(a.sum(axis=1) <= 0)
    counts_needed = [max(1, count * len(positive) // len(a)), 0]
    counts_needed[1] = count - counts_needed[0]
    chosen: list[int] = []
    for rows, number in zip((positive, negative), counts_needed):
        number = min(number, len(rows))
        if number and init == "cluster":
            chosen += kernel_means(x, gamma, rows, number, rng)
        elif number:
            chosen += rng.choice(rows, number, replace=False).tolist()
    rest = np.setdiff1d(np.arange(len(a)), chosen)  # if a side had too few
    chosen += rng.choice(rest, min(count - len(chosen), len(rest)), replace=False).tolist()
    return rng.permutation(chosen).tolist()


def kernel_means(
    x: Matrix,
    gamma: float,
    rows: np.ndarray,
    count: int,
    rng: np.random.Generator,
    iterations: int = 20,
) -> "list[int]":
    """Return the rows nearest to the centres of kernel k-means (Girolami 2002)."""
    if len(rows) > max(CLUSTERED, count):
        rows = rng.choice(rows, max(CLUSTERED, count), replace=False)
    mine = x[rows]
    k = gaussian(mine, gamma)(mine)
    at = rng.choice(len(rows), count, replace=False)
    cluster = np.argmax(k[:, at], axis=1)
    for _ in range(iterations):
        member = np.zeros((len(rows), count))
        member[np.arange(len(rows)), cluster] = 1
        size = member.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = (k @ member) / size  # <phi(x), centre>
            distance = np.einsum("ij,ij->j", member, k @ member) / size**2 - 2 * inner  # |phi(x) - centre|^2 - 1
        distance[:, size == 0] = np.inf
        new = np.argmin(distance, axis=1)
        for empty in np.flatnonzero(np.bincount(new, minlength=count) == 0):
            # Start with the row farthest from its centre.
            new[np.argmax(distance[np.arange(len(rows)), new])] = empty
        if np.array_equal(new, cluster):
            break
        cluster = new
    # In a cluster of two, both rows are equally near: take the first, independent of rounding.
    nearest = [
        int(rows[np.argmax(distance[:, c] <= distance[:, c].min() + 1e-9)])
        for c in range(count)
        if np.isfinite(distance[:, c]).all()
    ]
    return list(dict.fromkeys(nearest))


DENSE_CELLS = 1 << 25  # limit of support vectors times features
BLOCK_CELLS = 1 << 22  # decision values in memory


class Part(WeightedVectors):
    """Vectors, weighted by coefficients, that share approximating vectors."""

    def __init__(self, x: Matrix, a: np.ndarray, gamma: float, values: "Callable[[], np.ndarray]"):
        super().__init__(x, a, gamma)
        self._values = values

    @cached_property
    def values(self) -> np.ndarray:
        """K a: (n, m)."""
        return self._values()

    def __len__(self) -> int:
        return self.x.shape[0]

    def row(self, at: int) -> np.ndarray:
        """Return a vector as a dense row, (d)."""
        return dense(self.x[at]).ravel()


class Problem:
    """Approximation problem of a model.

    parts: one per class if more than two, else one. columns: LIBSVM indices (d). origin: point (d) subtracted from the
    vectors, or None. unit: divisor of the coefficients, lest squares overflow. space: of the shifted model.
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
        several = header.classification and header.nr_class > 2
        # One or two (part, column) per function.
        self.members = [[(i, j - 1), (j, i)] if several else [(0, 0)] for _, i, j in header.class_pairs]
        if several:
            starts = np.cumsum([0, *header.nr_sv])
            self.parts = [
                Part(x[rows], a[rows], self.gamma, partial(self._values_of_class, model, rows))
                for rows in map(slice, starts[:-1], starts[1:])
            ]
        else:
            self.parts = [Part(x, a[:, :1], self.gamma, lambda: space.at_support_vectors[0][:, :1] / self.unit)]
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

    def _values_of_class(self, model: ExactModel, rows: slice) -> np.ndarray:
        vectors = model.vectors.select(list(range(rows.start, rows.stop)))
        n, m = vectors.rows, vectors.leading_count
        header = model.header.changed(nr_sv=[n] + m * [0], total_sv=n, rho=[0.0] * model.pairs)
        alone = ExactModel(_native.LibsvmFile(header, vectors))
        out = np.empty((n, m))
        size = max(1, BLOCK_CELLS // header.pairs)
        for at in range(0, n, size):
            out[at : at + size] = fast_values(alone, vectors.slice(at, min(n, at + size)))[:, :m]
        return out / self.unit


def shares(problem: Problem, count: int, on_progress: Progress = silent) -> "list[list[int]]":
    """Select `count` support vectors greedily, and return those of each part.

    The criterion is c^2 / d, c the residual of K a, d the residual diagonal of K.
    """
    found: list[tuple[float, int, int]] = []  # (gain, part, row)
    whole, done = max(1, sum(map(len, problem.parts))), 0
    for at, part in enumerate(problem.parts):
        shown = part_of(on_progress, done / whole, (done + len(part)) / whole)
        done += len(part)
        found += [(gain, at, row) for gain, row in _greedy(problem, part, min(count, len(part)), shown)]
    # Within a part, a gain assumes the earlier ones: they do not increase, and the order is stable.
    best = sorted(found, key=lambda each: -each[0])[:count]
    return [[row for _, of, row in best if of == at] for at in range(len(problem.parts))]


def _greedy(problem: Problem, part: Part, count: int, on_progress: Progress) -> "list[tuple[float, int]]":
    sparse = part.x if hasattr(part.x, "toarray") else scipy.sparse.csr_matrix(part.x)
    residual = part.values.copy()  # of K a: (n, m)
    chosen = PartialCholesky(Kernel("rbf", problem.gamma), sparse, count)
    out, least = [], np.inf
    for _ in range(count):
        free = chosen.diagonal > 1e-8
        if not free.any():
            break
        gains = np.where(free, np.einsum("ij,ij->i", residual, residual) / np.where(free, chosen.diagonal, 1.0), -1.0)
        p = int(np.argmax(gains))
        least = min(least, float(gains[p]))
        column = chosen.add(p)
        residual -= np.outer(column, residual[p] / column[p])
        out.append((least, p))
        on_progress(len(out) / count)
    return out


_RIDGE = 1e-10  # added to the kernel matrix's diagonal of ones
FINISH_ITERATIONS = 100


def finish_seconds(support_vectors: int, vectors: int, parts: int) -> float:
    """Estimate the seconds of `finish`."""
    return FINISH_ITERATIONS * (1e-8 * support_vectors * vectors + 6e-5 * (parts**2 - 1))


class Fit:
    """Least squares coefficients of placed vectors, in feature space."""

    def __init__(self, problem: Problem, z: "list[np.ndarray]", gradient: bool = False):
        parts, gamma = problem.parts, problem.gamma
        self.problem, self.z = problem, z
        pairs_of_parts = [(s, t) for s in range(len(parts)) for t in range(len(parts))]
        own = [gaussian(each, gamma) for each in z]
        kzz = {(s, t): own[t](z[s]) for s, t in pairs_of_parts if s <= t}
        # <Psi, phi(z)> and the sums of its gradient, in one pass if possible; else from k(z, x).
        sums = None
        if len(parts) == 1 and parts[0].moments is not None:
            sums = parts[0].kernel.times(z[0], parts[0].moments if gradient else parts[0].a)
            kzx = {}
        else:
            kzx = {(s, t): parts[t].kernel(z[s]) for s, t in pairs_of_parts}

        def block(s: int, t: int) -> np.ndarray:
            return kzz[s, t] if s <= t else kzz[t, s].T

        def psi(s: int, t: int, column: int) -> np.ndarray:
            return sums[:, column] if sums is not None else kzx[s, t] @ parts[t].a[:, column]

        # b_p = <Psi_p, phi(z)>
        self.beta = [np.zeros((len(each), part.a.shape[1])) for each, part in zip(z, parts)]
        distance = np.zeros(len(problem.members))  # (functions)
        for p, members in enumerate(problem.members):
            b = np.concatenate([sum(psi(s, t, column) for t, column in members) for s, _ in members])
            if not len(b):
                distance[p] = problem.squared_norm[p]
                continue
            k = np.block([[block(s, t) for t, _ in members] for s, _ in members])
            beta = _solve(k, b)
            distance[p] = problem.squared_norm[p] - 2 * (beta @ b) + beta @ (k @ beta)
            first = 0
            for s, column in members:
                self.beta[s][:, column] = beta[first : first + len(z[s])]
                first += len(z[s])
        self.distance = float(np.maximum(distance, 0.0).sum())
        if not gradient:
            return
        # Eq. (7) at the optimal coefficients, constant to first order. (s, t) -> columns of s and t of the same
        # function.
        shared: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for members in problem.members:
            for s, mine in members:
                for t, theirs in members:
                    shared.setdefault((s, t), []).append((mine, theirs))
        self.gradient = []
        for s in range(len(parts)):
            total = np.zeros_like(z[s])
            for t, other in enumerate(parts):
                if (s, t) not in shared or not len(z[s]):
                    continue
                columns_of_s, columns_of_t = map(list, zip(*shared[s, t]))
                beta = self.beta[s][:, columns_of_s]
                if sums is not None:
                    of_x, weight = beta * sums[:, 1:], beta[:, 0] * sums[:, 0]
                else:
                    w = beta @ other.a[:, columns_of_t].T
                    w *= kzx[s, t]
                    of_x, weight = np.asarray((other.x.T @ w.T).T), w.sum(axis=1)
                v = block(s, t) * (beta @ self.beta[t][:, columns_of_t].T)
                total += v @ z[t] - of_x + (weight - v.sum(axis=1))[:, None] * z[s]
            self.gradient.append(4 * gamma * total)


def _solve(k: np.ndarray, b: np.ndarray) -> np.ndarray:
    # The smallest ridge that works: vectors may coincide.
    for ridge in (_RIDGE, 1e-8, 1e-6, 1e-4):
        try:
            return cho_solve(cho_factor(k + ridge * np.eye(len(b)), lower=True), b)
        except np.linalg.LinAlgError:
            continue
    return np.linalg.lstsq(k, b, rcond=None)[0]


def finish(problem: Problem, z: "list[np.ndarray]", on_step: Progress = silent) -> "list[np.ndarray]":
    """Return the vectors after L-BFGS on all, with optimal coefficients at every step."""
    from scipy.optimize import minimize

    shapes = [each.shape for each in z]
    sizes = np.cumsum([0, *(each.size for each in z)])
    scale, length = problem.scale, kernel_length(problem.gamma)

    def split(flat: np.ndarray) -> "list[np.ndarray]":
        return [length * flat[sizes[i] : sizes[i + 1]].reshape(shape) for i, shape in enumerate(shapes)]

    def objective(flat: np.ndarray) -> "tuple[float, np.ndarray]":
        fit = Fit(problem, split(flat), gradient=True)
        on_step(fit.distance / scale)
        return fit.distance / scale, np.concatenate([g.ravel() for g in fit.gradient]) * (length / scale)

    if not sizes[-1]:
        return z
    done = minimize(
        objective,
        np.concatenate([each.ravel() for each in z]) / length,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": FINISH_ITERATIONS, "maxcor": 20, "ftol": 1e-7, "gtol": 1e-12},
    )
    return split(done.x)

"""Placement of one vector z (Suttorp and Igel, sections 2.2 and 3), minimising E(z) = -sum_j Psi_j(z)^2 (eq. 4)."""

import numpy as np

from fastsvm_cli._native import Kernel
from fastsvm_cli.methods.feature_space import KernelMatrix, Matrix

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


def moments(x: Matrix, a: np.ndarray) -> "np.ndarray | None":
    """Return (a, a x_1, ..., a x_d), (n, 1 + d), whose product with kernel values gives the function and its gradient.

    None for sparse vectors, and for several functions.
    """
    if not isinstance(x, np.ndarray) or a.shape[1] != 1:
        return None
    return np.concatenate([a, a * x], axis=1)


def kernel_length(gamma: float) -> float:
    """Return the distance at which K is 1/e; 1 if gamma is 0."""
    return gamma**-0.5 if gamma > 0 else 1.0


class Residual:
    """Residual Psi - Psi': x (n, d) with weights a (n, m), and z (L, d) with weights -beta (L, m)."""

    def __init__(
        self,
        x: Matrix,
        a: np.ndarray,
        gamma: float,
        kernel: "KernelMatrix | None" = None,
        x_moments: "np.ndarray | None" = None,
    ):
        self.x, self.a, self.gamma = x, a, gamma
        self.kernel = gaussian(x, gamma) if kernel is None else kernel
        self.moments = moments(x, a) if x_moments is None else x_moments
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


def fixed_point(residual: Residual, start: np.ndarray, iterations: int = _REST_ITERATIONS) -> "tuple[np.ndarray, bool]":
    """Return (z by eq. (6), whether it converged to E < 0). It diverges where weights nearly cancel."""
    z = start.copy()
    for _ in range(iterations):
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

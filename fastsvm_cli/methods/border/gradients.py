"""Decision functions with gradients, of SVMs and density estimates, and their roots on lines between rows."""

from typing import Protocol

import numpy as np

from fastsvm_cli._native import Kernel
from fastsvm_cli.methods.feature_space import Matrix, row_norms, squared_distances

_ITERATIONS = 100


class DecisionFunction(Protocol):
    """Interface of a function with a gradient."""

    def value_and_gradient(self, z: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
        """Return f (m) and its gradient (m, d)."""


def roots_between(
    function: DecisionFunction, level: float, first: np.ndarray, second: np.ndarray, tolerance: float
) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Find roots of f - level on lines between two rows, by safeguarded Newton steps.

    first, second: (m, d), f > level and f < level; other pairs are skipped. Return (points (k, d), |f - level| <=
    tolerance, gradients (k, d), pair indices (k)).
    """
    at_first, at_second = function.value_and_gradient(first)[0] - level, function.value_and_gradient(second)[0] - level
    pair = np.flatnonzero((at_first > 0) & (at_second < 0))
    start, along = first[pair], second[pair] - first[pair]
    low, high = np.zeros(len(pair)), np.ones(len(pair))  # f - level > 0 at low, < 0 at high
    t = at_first[pair] / (at_first[pair] - at_second[pair])  # root of the linear interpolation
    before = np.full(len(pair), np.inf)
    points, gradients, done = [], [], []
    for _ in range(_ITERATIONS):
        if not len(pair):
            break
        z = start + t[:, None] * along
        f, gradient = function.value_and_gradient(z)
        f -= level
        rest = np.abs(f) <= tolerance
        points.append(z[rest])
        gradients.append(gradient[rest])
        done.append(pair[rest])
        going = ~rest & np.isfinite(f)
        pair, start, along, low, high, t, before, f, gradient = (
            each[going] for each in (pair, start, along, low, high, t, before, f, gradient)
        )
        low, high = np.where(f > 0, t, low), np.where(f < 0, t, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = t - f / np.einsum("ij,ij->i", gradient, along)
        # Newton's step inside the bracket if |f| has halved, else bisection.
        t = np.where((newton > low) & (newton < high) & (np.abs(f) <= 0.5 * before), newton, 0.5 * (low + high))
        before = np.abs(f)
    if not points:
        return first[:0], first[:0], np.zeros(0, int)
    return np.concatenate(points), np.concatenate(gradients), np.concatenate(done)


BLOCK_CELLS = 1 << 22  # kernel values in memory


class MachineFunction:
    """Decision function f(z) = sum_i a_i K(x_i, z) - rho; no precomputed kernel. x: (n, d) dense or sparse."""

    def __init__(self, x: Matrix, a: np.ndarray, rho: float, kernel: Kernel):
        self.a, self.rho, self.kernel = a, rho, kernel
        # Fewer digits are lost about the mean; RBF kernels do not depend on the origin.
        self._center = x.mean(axis=0) if kernel.type == "rbf" and isinstance(x, np.ndarray) and len(x) else 0.0
        self.x = x = x - self._center if isinstance(self._center, np.ndarray) else x
        self.norms = row_norms(x)

    def value_and_gradient(self, z: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
        """Return f(z) (m), and its gradient (m, d)."""
        f, gradient = np.empty(len(z)), np.empty(z.shape)
        size = max(1, BLOCK_CELLS // max(len(self.a), 1))
        for at in range(0, len(z), size):
            f[at : at + size], gradient[at : at + size] = self._block(z[at : at + size])
        return f, gradient

    def _block(self, z: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
        z = z - self._center
        kernel, gamma = self.kernel, self.kernel.gamma
        own = 0.0  # coefficient of z itself in the gradient
        # values and slope: (m, n).
        dots = np.asarray(self.x @ z.T).T if kernel.type != "rbf" else np.empty(0)
        if kernel.type == "linear":
            values, slope = dots, np.ones_like(dots)
        elif kernel.type == "rbf":
            values = np.exp(-gamma * squared_distances(self.x, self.norms, z))
            slope = 2 * gamma * values
            own = -(slope @ self.a)[:, None]
        elif kernel.type == "polynomial":
            inner = gamma * dots + kernel.coef0
            values = inner**kernel.degree
            slope = kernel.degree * gamma * inner ** (kernel.degree - 1) if kernel.degree else np.zeros_like(inner)
        else:  # sigmoid
            values = np.tanh(gamma * dots + kernel.coef0)
            slope = gamma * (1 - values**2)
        gradient = np.asarray((self.x.T @ (slope * self.a).T).T) + own * z
        return values @ self.a - self.rho, gradient


class DensityFunction:
    """Difference of two classes' probabilities by Gaussian kernel density estimates (Mills).

    R(z) = P(first class | z) - P(second | z) = sum_i y_i k_i / sum_i k_i, k_i = exp(-|z - x_i|^2 / (2 h^2)).

    x: (n, d) dense; y: (n), 1 or -1. bandwidth: h; None: solved at every z for sum_i k_i = weight < n.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, bandwidth: "float | None", weight: float = 0.0):
        self._center = x.mean(axis=0)
        self.x, self.y, self.bandwidth, self.weight = x - self._center, y, bandwidth, weight
        self.norms = row_norms(self.x)

    def value_and_gradient(self, z: np.ndarray, own: "np.ndarray | None" = None) -> "tuple[np.ndarray, np.ndarray]":
        """Return R(z) (m), and its gradient (m, d). own: (m), row of x to leave out for each z, or -1."""
        f, gradient = np.empty(len(z)), np.empty(z.shape)
        size = max(1, BLOCK_CELLS // len(self.y))
        for at in range(0, len(z), size):
            part = slice(at, at + size)
            f[part], gradient[part] = self._block(z[part], None if own is None else own[part])
        return f, gradient

    def bandwidths(self, z: np.ndarray) -> np.ndarray:
        """Return the bandwidth at each row z: (m)."""
        return np.sqrt(1 / (2 * self._gamma(squared_distances(self.x, self.norms, z - self._center), 1.0)))

    def _gamma(self, squares: np.ndarray, counts: "np.ndarray | float") -> np.ndarray:
        # 1 / (2 h^2); counts: 0 for rows left out, else 1
        if self.bandwidth is not None:
            return np.full(len(squares), 1 / (2 * self.bandwidth**2))
        # Newton's method on log(sum k) over log(g): decreasing, and flat at both ends, so it needs a bracket: n e^{-g
        # max s} <= sum k <= n e^{-g min s}.
        share = np.log(len(self.y) / self.weight)
        tiny = np.finfo(float).tiny
        unit = np.maximum(squares.max(axis=1), tiny)
        squares = squares / unit[:, None]
        low = np.full(len(squares), share)
        with np.errstate(over="ignore"):
            high = np.minimum(share / np.maximum(squares.min(axis=1), tiny), 1e300)
        g = np.sqrt(low) * np.sqrt(np.minimum(high, low * 1e6))
        for _ in range(200):
            k = counts * np.exp(-g[:, None] * squares)
            total = k.sum(axis=1)
            miss = np.log(total / self.weight)
            done = np.abs(miss) < 1e-12
            if done.all():
                break
            low, high = np.where(miss > 0, g, low), np.where(miss < 0, g, high)
            slope = g * (k * squares).sum(axis=1) / total  # -d log(total) / d log(g)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                newton = g * np.exp(np.clip(miss / slope, -50, 50))
                middle = np.sqrt(low) * np.sqrt(high)
            following = np.where((newton > low) & (newton < high), newton, middle)
            if np.all((following == g) | done):
                break
            g = np.where(done, g, following)
        return g / unit

    def _block(self, z: np.ndarray, own: "np.ndarray | None") -> "tuple[np.ndarray, np.ndarray]":
        z = z - self._center
        squares = squared_distances(self.x, self.norms, z)
        counts: np.ndarray | float = 1.0
        if own is not None:
            counts = np.ones_like(squares)
            counts[np.flatnonzero(own >= 0), own[own >= 0]] = 0.0
        g = self._gamma(squares, counts)
        # With a fixed bandwidth only ratios of the k matter: relative to the largest, not all underflow.
        nearest = (
            np.where(counts > 0, squares, np.inf).min(axis=1, keepdims=True) if self.bandwidth is not None else 0.0
        )
        k = counts * np.exp(-g[:, None] * np.maximum(squares - nearest, 0.0))
        total = k.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            r = (k @ self.y) / total
            pull = k @ self.x - total[:, None] * z  # sum_k k_k (x_k - z)
            mine = (k * self.y) @ self.x - (k @ self.y)[:, None] * z
            if self.bandwidth is not None:  # the total varies with z
                gradient = 2 * g[:, None] * (mine - r[:, None] * pull) / total[:, None]
            else:
                # The bandwidth keeps the total constant: grad h = -h sum_k k_k (x_k - z) / sum_k k_k s_k. (Mills prints
                # 1 / s_k. Differentiating sum k = W gives s_k; finite differences confirm it.)
                moved = ((k * self.y * squares).sum(axis=1) / (k * squares).sum(axis=1))[:, None]
                gradient = 2 * g[:, None] * (mine - moved * pull) / total[:, None]
        return r, gradient

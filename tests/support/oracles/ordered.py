"""Intervals from a few kernel values (DeCoste), and stopping early by the triangle inequality (Acevedo-Rodriguez et
al.)."""

import numpy as np

from support.oracles.exact import kernel_matrix, kernel_values, self_kernel
from support.oracles.machine import EXTENDED, Machine, dense

# ---- intervals from a few kernel values (DeCoste)


def cholesky(k: np.ndarray) -> np.ndarray:
    lower = np.zeros_like(k)
    for i in range(len(k)):
        for j in range(i):
            lower[i, j] = (k[i, j] - lower[i, :j] @ lower[j, :j]) / lower[j, j]
        lower[i, i] = np.sqrt(k[i, i] - lower[i, :i] @ lower[i, :i])
    return lower


def forward(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """lower^-1 right"""
    out = np.zeros_like(right)
    for i in range(len(lower)):
        out[i] = (right[i] - lower[i, :i] @ out[:i]) / lower[i, i]
    return out


def intervals(machine: Machine, points: "list[dict]", rows: "list[dict]") -> "tuple[np.ndarray, np.ndarray]":
    """Centres and radii after 0, 1, ... points, (points + 1, rows, pairs) each: with K_S = L L', y = L^-1 k(S, z) and g
    = L^-1 <w, phi(S)>,

    f(z) = g.y - rho  +-  sqrt(|w|^2 - |g|^2) sqrt(K(z, z) - |y|^2)."""
    a = machine.pair_coefficients.T.astype(EXTENDED)  # (total_sv, pairs)
    lower = cholesky(kernel_matrix(machine, points, points))
    y, g = forward(lower, kernel_matrix(machine, points, rows)), forward(lower, kernel_values(machine, points) @ a)
    squared_norm = np.einsum("ip,ij,jp->p", a, kernel_values(machine, machine.vectors), a)

    def so_far(terms):
        return np.concatenate([np.zeros((1, *terms.shape[1:]), EXTENDED), np.cumsum(terms, axis=0)])

    center = so_far(y[:, :, None] * g[:, None, :]) - np.array(machine.rho, EXTENDED)
    beside_w = np.sqrt(np.maximum(0, squared_norm - so_far(g**2)))
    beside_z = np.sqrt(np.maximum(0, self_kernel(machine, rows) - so_far(y**2)))
    return center, beside_w[:, None, :] * beside_z[:, :, None]


def papers_interval(machine: Machine, points: "list[dict]", rows: "list[dict]") -> "tuple[np.ndarray, np.ndarray]":
    """DeCoste's G_L and G_H after all the points, (rows) each: eqs. (3) to (31), from distances alone. For two classes
    whose coefficients add up to 0."""
    a = machine.pair_coefficients[0].astype(EXTENDED)
    s, n, k = np.maximum(a, 0).sum(), len(a), len(points)
    # Points of feature space as sums over points, vectors and rows: S_1..S_k, N, P, then a Q per row. (6), (7)
    everything = [*points, *machine.vectors, *rows]
    weights = np.zeros((k + 2 + len(rows), len(everything)), EXTENDED)
    weights[:k, :k], weights[k + 2 :, k + n :] = np.eye(k), np.eye(len(rows))
    weights[k, k : k + n], weights[k + 1, k : k + n] = np.maximum(-a, 0) / s, np.maximum(a, 0) / s
    gram = weights @ kernel_matrix(machine, everything, everything) @ weights.T
    c = s * s * (gram[k, k] - gram[k + 1, k + 1])  # (10)
    d2 = np.diag(gram)[:, None] - 2 * gram + np.diag(gram)[None, :]  # (5)
    v = np.zeros((k + 2, k + 1), EXTENDED)  # table 1

    def coordinates(squares, width):  # table 2, from the squared distances to S_1, S_2, ...
        out = np.zeros(k + 1, EXTENDED)
        for j in range(width):
            out[j] = ((squares[0] + v[j + 1] @ v[j + 1] - squares[j + 1]) / 2 - out[:j] @ v[j + 1, :j]) / v[j + 1, j]
        return out

    for i in range(1, k + 2):
        v[i] = coordinates(d2[i], i - 1)
        v[i, i - 1] = np.sqrt(np.maximum(0, d2[i, 0] - v[i] @ v[i]))
    w, low, high = k - 1, [], []
    (n_w, n_x), (p_w, p_x, p_y) = (v[k, :w], v[k, w]), (v[k + 1, :w], v[k + 1, w], v[k + 1, w + 1])
    for squares in d2[k + 2 :]:
        q = coordinates(squares, w)[:w]
        radius = np.sqrt(np.maximum(0, squares[0] - q @ q))  # (16)
        so_far = ((q - n_w) ** 2 - (q - p_w) ** 2).sum()  # (30)
        axis = np.hypot(p_x - n_x, p_y)
        x = radius * (p_x - n_x) / axis if axis else EXTENDED(0)  # (28)
        y = np.sqrt(np.maximum(0, radius**2 - x**2))
        g = [
            so_far + (qx - n_x) ** 2 - (qx - p_x) ** 2 + qy**2 - (qy - p_y) ** 2 for qx in (x, -x) for qy in (y, -y)
        ]  # (31)
        for to, extreme in ((low, min(g)), (high, max(g))):
            to.append((extreme * s - c / s) / 2 - machine.rho[0])  # (13), (14)
    return np.array(low), np.array(high)


def odds(low: float, high: float) -> float:
    """DeCoste's eq. (32): the probability that the value in this interval is positive."""
    return max(high, 0) / (max(high, 0) + max(-low, 0))


# ---- stopping early by the triangle inequality (Acevedo-Rodriguez et al.)


def papers_stops(machine: Machine, pivots: "list[int]", row: dict) -> "list[int]":
    """Number of terms after which conditions (10) and (11), and for the exponential kernel (16) and (17), stop a row;
    all if they never do. Terms: the list of the nearest pivot, by distance from it. One decision function. d^low is
    that of the first term left."""
    columns = sorted(set(machine.features).union(row))
    x, z = dense(machine.vectors, columns), dense([row], columns)[0]
    pivot = min(pivots, key=lambda p: ((x[p] - z) ** 2).sum())  # (12)
    from_pivot, to_row = np.sqrt(((x - x[pivot]) ** 2).sum(axis=1)), np.sqrt(((x[pivot] - z) ** 2).sum())
    order = np.argsort(from_pivot, kind="stable")
    d, a = from_pivot[order], machine.pair_coefficients[0].astype(EXTENDED)[order]
    f = np.concatenate([[0], np.cumsum(a * kernel_values(machine, [row])[0][order])]) - EXTENDED(machine.rho[0])  # (8)
    gamma, n = EXTENDED(machine.gamma), len(a)

    def kernel(distance):
        return np.exp(-gamma * (distance if machine.kernel == "exponential" else distance**2))

    def stop(bounds):
        for at in range(n):
            (low_positive, high_positive), (low_negative, high_negative) = (
                bounds(at, np.maximum(sign * a[at:], 0)) for sign in (1, -1)
            )
            if f[at] > high_negative - low_positive or -f[at] > high_positive - low_negative:
                return at
        return n

    def by_distance(at, left):
        return left.sum() * kernel(d[-1] + to_row), left.sum() * kernel(max(0, d[at] - to_row))

    def by_factors(at, left):
        return (left @ kernel(d[at:])) * np.exp(-gamma * to_row), (left @ kernel(d[at:])) * np.exp(gamma * to_row)

    return [stop(by_distance)] + ([stop(by_factors)] if machine.kernel == "exponential" else [])

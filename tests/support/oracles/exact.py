"""Exact models in extended precision: kernels, decision values, votes, probabilities, bounds on rounding."""

from math import exp, fabs, inf, sqrt

import numpy as np

from support.oracles.machine import EXTENDED, UNIT, Machine, dense

MIN_PROBABILITY = 1e-7


def kernel_values(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """(rows, total_sv)"""
    if machine.kernel == "precomputed":
        return np.array([[row[int(x[0])] for x in machine.vectors] for row in rows], EXTENDED).reshape(
            len(rows), len(machine.vectors)
        )
    return kernel_matrix(machine, rows, machine.vectors)


def kernel_matrix(machine: Machine, rows: "list[dict]", others: "list[dict]") -> np.ndarray:
    """(rows, others)"""
    columns = sorted(set().union(*rows, *others))
    z, x = dense(rows, columns), dense(others, columns)
    gamma = EXTENDED(machine.gamma)
    if machine.kernel in ("rbf", "exponential"):
        squares = np.array([((x - row) ** 2).sum(axis=1) for row in z], EXTENDED).reshape(len(z), len(x))
        return np.exp(-gamma * (squares if machine.kernel == "rbf" else np.sqrt(squares)))
    inner = z @ x.T
    if machine.kernel == "linear":
        return inner
    if machine.kernel == "sigmoid":
        return np.tanh(gamma * inner + machine.coef0)
    values = (gamma * inner + machine.coef0) ** machine.degree
    if machine.kernel == "polynomial":
        return values
    return values / np.sqrt(
        np.outer(*((gamma * (part**2).sum(axis=1) + machine.coef0) ** machine.degree for part in (z, x)))
    )


def self_kernel(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """K(z, z) of every row: (rows)"""
    return np.array([kernel_matrix(machine, [row], [row])[0, 0] for row in rows], EXTENDED)


def decision_values(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """f(z) = sum_i a_i K(x_i, z) - rho: (rows, pairs)"""
    return kernel_values(machine, rows) @ machine.pair_coefficients.T.astype(EXTENDED) - np.array(machine.rho, EXTENDED)


def magnitudes(machine: Machine, rows: "list[dict]") -> np.ndarray:
    """sum_i |a_i K(x_i, z)| + |rho|, to which rounding is relative: (rows, pairs)"""
    return np.abs(kernel_values(machine, rows)) @ np.abs(machine.pair_coefficients.T) + np.abs(machine.rho)


def labels(machine: Machine, values) -> list:
    """The first class with most votes, one per decision function. +1 or -1 for one class, f(z) itself for
    regression."""
    if not machine.classification:
        return [(1 if f > 0 else -1) if machine.svm_type == "one_class" else float(f) for (f,) in values]
    out = []
    for row in values:
        votes = [0] * machine.nr_class
        for (i, j), f in zip(machine.pairs, row):
            votes[i if f > 0 else j] += 1
        out.append(machine.label[votes.index(max(votes))])
    return out


def pairwise(machine: Machine, values) -> np.ndarray:
    """(nr_class, nr_class): Platt's 1 / (1 + exp(A f + B)) of every pair, for one row's decision values."""
    r = np.zeros((machine.nr_class,) * 2)
    for (i, j), f, a, b in zip(machine.pairs, values, machine.probA, machine.probB):
        t = float(f) * a + b
        p = exp(-t) / (1 + exp(-t)) if t >= 0 else 1 / (1 + exp(t))
        r[i, j] = min(max(p, MIN_PROBABILITY), 1 - MIN_PROBABILITY)
        r[j, i] = 1 - r[i, j]
    return r


def couple(r: np.ndarray) -> np.ndarray:
    """Wu, Lin and Weng (2004), second method: min sum_ij (r_ji p_i - r_ij p_j)^2 with sum p = 1, by LIBSVM's iteration
    and stopping rule."""
    k = len(r)
    if k == 2:
        return np.array([r[0, 1], r[1, 0]])
    q = -r.T * r
    np.fill_diagonal(q, (r**2).sum(axis=0))
    p = np.full(k, 1 / k)
    for _ in range(max(100, k)):
        if np.max(np.abs(q @ p - p @ q @ p)) < 0.005 / k:
            break
        for t in range(k):
            p[t] += (p @ q @ p - q[t] @ p) / q[t, t]
            p /= p.sum()
    return p


def one_class_probability(marks: "list[float]", value: float) -> "tuple[float, float]":
    """(normal, outlier): the share of marks below the value; 0.001 and 0.999 outside the marks"""
    if value < marks[0]:
        p = 0.001
    elif value > marks[-1]:
        p = 0.999
    else:
        p = next((i / len(marks) for i in range(1, len(marks)) if value < marks[i]), 0.0)
    return p, 1 - p


def probabilities(machine: Machine, values) -> np.ndarray:
    """(rows, nr_class)"""
    if machine.svm_type == "one_class":
        return np.array([one_class_probability(machine.marks, f) for (f,) in values])
    return np.array([couple(pairwise(machine, row)) for row in values]).reshape(len(values), machine.nr_class)


def rounding_radius(machine: Machine, row: dict, values) -> np.ndarray:
    """fastsvm's bound on rounding between its evaluation and LIBSVM's sum: (pairs). Infinite: no claim."""
    q, s = len(row), max(map(len, machine.vectors), default=0)
    norms = [sqrt(sum(v * v for v in x.values())) for x in machine.vectors]
    z, x = sqrt(sum(v * v for v in row.values())), max(norms, default=0.0)
    coefficients = np.abs(machine.pair_coefficients)
    weight = coefficients @ np.array(norms) if machine.kernel == "linear" else coefficients.sum(axis=1)
    of = np.repeat(np.arange(machine.nr_class), machine.nr_sv) if machine.classification else None
    count = np.array(
        [np.isin(of, pair).sum() for pair in machine.pairs] if machine.classification else [len(machine.vectors)]
    )
    base = fabs(machine.gamma) * x * z + fabs(machine.coef0)
    scale = 1.0
    if machine.kernel == "rbf":
        delta = machine.gamma * (max(q, s) + 6) * UNIT * (x + z) ** 2
        common = 1.02 * delta + (0.4 * (q + s + 5) + 14) * UNIT if delta < 1e-2 else inf
    elif machine.kernel == "polynomial":
        common, scale = 2.1 * UNIT * (machine.degree * (min(q, s) + 8) + 8), base**machine.degree
    elif machine.kernel == "sigmoid":
        common = 2.1 * UNIT * ((min(q, s) + 6) * base + 8)
    else:  # folded: one term for every entry of the row
        common, scale = 1.05 * UNIT * (min(q, s) + q + 16), z
    return (
        weight * (common + 2.1 * UNIT * (count + 6)) * scale
        + 3 * UNIT * (np.abs(values) + np.abs(machine.rho))
        + 1e-290
    )

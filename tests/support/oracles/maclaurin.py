"""Maclaurin expansions (Claesen, De Smet, Suykens, De Moor); `point` is a row, the centre m."""

from math import comb, factorial

import numpy as np

from support.oracles.machine import EXTENDED, Machine, dense


def about(machine: Machine, rows: "list[dict]", point: dict) -> "tuple[np.ndarray, np.ndarray]":
    """x - m (total_sv, d) and z - m (rows, d)"""
    columns = sorted(set(machine.features).union(point, *rows))
    m = dense([point], columns)
    return dense(machine.vectors, columns) - m, dense(rows, columns) - m


def expansion(machine: Machine, pair: int, point: dict, features: "list[int]", degree: int) -> "list[np.ndarray]":
    """Tensors c, v (d), M (d, d), ... of one decision function about a centre: eqs. (3.7), (3.8), and (3.13) to (3.16)
    for finite kernels; T_k = factor_k sum_i a_i x~_i^k, with a_i e^(-gamma |x~_i|^2) for a_i if the kernel is RBF."""
    x = dense(machine.vectors, features) - dense([point], features)
    a = machine.pair_coefficients[pair].astype(EXTENDED)
    gamma, b = EXTENDED(machine.gamma), EXTENDED(machine.coef0)
    if machine.kernel == "rbf":
        a = a * np.exp(-gamma * (x**2).sum(axis=1))
        factors = [(2 * gamma) ** k / factorial(k) for k in range(degree + 1)]
    elif machine.kernel == "linear":
        factors = [0, 1]
    else:
        factors = [comb(machine.degree, k) * b ** (machine.degree - k) * gamma**k for k in range(machine.degree + 1)]
    tensors, d = [], len(features)
    for k, factor in enumerate(factors):
        power = np.ones((len(x), 1), EXTENDED)  # x~_i^(k - 1), (total_sv, d^(k - 1))
        for _ in range(k - 1):
            power = (power[:, :, None] * x[:, None, :]).reshape(len(x), power.shape[1] * x.shape[1])
        tensors.append(factor * ((power.T * a) @ x if k else a.sum()).reshape((d,) * k))
    return tensors


def apply(tensors: "list[np.ndarray]", z: np.ndarray) -> EXTENDED:
    """c + v.z + z'Mz + ..."""
    total = EXTENDED(0)
    for tensor in tensors:
        while tensor.ndim:
            tensor = tensor @ z
        total += tensor
    return total


def expansion_values(machine: Machine, pair: int, rows: "list[dict]", point: dict, degree: int = 2):
    """(e^(-gamma |z - m|^2) (c + v.(z - m) + (z - m)'M(z - m) + ...) - rho, the same with the size of every term and no
    rho), both (rows); without the exponential for finite kernels. A relative error u of the coefficients changes the
    value by at most u times the second."""
    columns = sorted(set(machine.features).union(point, *rows))
    known = sorted(set(machine.features).union(point))
    tensors = expansion(machine, pair, point, known, degree)
    sizes = [np.abs(tensor) for tensor in tensors]
    everywhere = dense(rows, columns) - dense([point], columns)
    z = everywhere[:, np.isin(columns, known)]  # in other columns every tensor is 0
    weight = (
        np.exp(-EXTENDED(machine.gamma) * (everywhere**2).sum(axis=1))
        if machine.kernel == "rbf"
        else np.ones(len(rows), EXTENDED)
    )
    value = weight * np.array([apply(tensors, row) for row in z], EXTENDED) - machine.rho[pair]
    return value, weight * np.array([apply(sizes, np.abs(row)) for row in z], EXTENDED)


def exponents(machine: Machine, rows: "list[dict]", point: dict):
    """2 gamma (x - m).(z - m), argument of the truncated exponential series: (rows, total_sv)"""
    x, z = about(machine, rows, point)
    return 2 * EXTENDED(machine.gamma) * (z @ x.T)


def largest_squared_norm(machine: Machine, point: dict, used=None) -> float:
    """max |x - m|^2 over the support vectors (or those `used`)"""
    x, _ = about(machine, [], point)
    return float(max((x[range(len(x)) if used is None else used] ** 2).sum(axis=1), default=0.0))


def bound_ratio(machine: Machine, rows: "list[dict]", point: dict, used=None) -> np.ndarray:
    """16 gamma^2 |x_M - m|^2 |z - m|^2, below 1 inside the bound of eq. (3.11): (rows)"""
    _, z = about(machine, rows, point)
    return 16 * machine.gamma**2 * largest_squared_norm(machine, point, used) * (z**2).sum(axis=1)

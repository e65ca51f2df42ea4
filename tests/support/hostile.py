"""Unusual models, rows and options, made to break a radius."""

import numpy as np

from fastsvm_cli._native import SVM_TYPES
from support.oracles import random_machine

UNKNOWN = 1000  # an index that no support vector has


def as_rows(x):
    return [{j: float(v) for j, v in enumerate(row, 1) if v} for row in x]


def hostile_vectors(rng, n, d, gamma):
    """Vectors far apart or close for gamma; about the origin or far from it; duplicates, near-duplicates, zeros, very
    long and very short ones."""
    scale = np.sqrt(10 ** rng.uniform(-3, 0.7) / (gamma * d)) if rng.random() < 0.7 else 10 ** rng.uniform(-6, 4)
    x = scale * rng.standard_normal((n, d))
    if rng.random() < 0.4:
        x += scale * 10 ** rng.uniform(-1, 6) * rng.standard_normal(d)
    if rng.random() < 0.4:
        x *= rng.random((n, d)) < rng.uniform(0.2, 1)
    for i in range(1, n):
        kind = rng.random()
        if kind < 0.08:
            x[i] = x[i - 1]
        elif kind < 0.2:
            x[i] = x[i - 1] * (1 + 10 ** rng.uniform(-15, -3))
        elif kind < 0.24:
            x[i] = 0
        elif kind < 0.3:
            x[i] *= 10.0 ** rng.choice([-100, -12, -3, 1, 2, 6])
    return x


def sparse_vectors(rng, n, d):
    """Sparse vectors with up to three mostly full columns far from 0, a pair of twins and an empty one."""
    x = rng.standard_normal((n, d)) * (rng.random((n, d)) < rng.uniform(0.02, 0.3))
    for column in range(int(rng.integers(0, min(3, d) + 1))):
        x[:, column] = np.where(rng.random(n) < rng.uniform(0.5, 1), 10 ** rng.uniform(-1, 4) + rng.random(n), 0)
    x[n // 2] = 0
    x[n // 3] = x[n - 1]
    return x


def hostile_machine(rng, kernel="rbf"):
    n = int(rng.integers(1, 51))
    d, gamma = int(rng.integers(1, 21 if rng.random() < 0.2 else 7)), 10 ** rng.uniform(-4, 1)
    x = hostile_vectors(rng, n, d, gamma)
    svm_type, classes = SVM_TYPES[rng.integers(5)], int(rng.choice([2, 2, 2, 3, 4]))
    parameters = (
        {"coef0": float(rng.choice([0, 1, -0.5, 100])), "degree": int(rng.integers(5))}
        if kernel == "polynomial"
        else {}
    )
    machine = random_machine(rng, svm_type, kernel, as_rows(x), nr_class=classes, gamma=float(gamma), **parameters)
    machine.coef *= 10.0 ** rng.uniform(-3, 10 if rng.random() < 0.5 else 1)
    if rng.random() < 0.2:
        machine.coef *= 10.0 ** rng.uniform(-8, 0, (n, 1))
    for i in range(1, n):
        if rng.random() < 0.3:  # opposes the vector before, which may be its duplicate
            machine.coef[i] = -machine.coef[i - 1] * (1 + rng.choice([0, 1e-12, 1e-3]))
    return machine, x


def hostile_rows(rng, x):
    """Rows among the vectors, at one, near one, along one, at the mean, between two, far, very far, with an unknown
    feature."""
    n, d = x.shape
    one, other, mean = x[rng.integers(n)], x[rng.integers(n)], x.mean(axis=0)
    spread = np.abs(x - mean).max() + 1e-300
    rows = [
        mean + spread * rng.standard_normal(d),
        one,
        one + spread * 10 ** rng.uniform(-12, 0) * rng.standard_normal(d),
    ]
    rows += [mean + (one - mean) * 10 ** rng.uniform(-2, 2), mean, one + rng.uniform(0, 3) * (other - one)]
    rows += [
        spread * 10 ** rng.uniform(0, 5) * rng.standard_normal(d),
        10.0 ** rng.choice([5, 20, 150]) * rng.standard_normal(d),
    ]
    return [*as_rows(rows), {**as_rows([one])[0], UNKNOWN: float(spread * 10 ** rng.uniform(-9, 1))}]


def hostile_options(rng, kernel="rbf"):
    """rank and tolerance need degree 2."""
    if kernel != "rbf":
        return {}
    options = {"degree": int(rng.integers(1, 5)), "single": bool(rng.random() < 0.5)}
    options |= (
        {"clusters": int(rng.integers(2, 6))}
        if rng.random() < 0.35
        else {"center": str(rng.choice(["mean", "mean", "origin", "pair"]))}
    )
    if options["degree"] == 2 and rng.random() < 0.4:
        options |= (
            {"rank": int(rng.integers(1, 8))} if rng.random() < 0.5 else {"tolerance": float(10 ** rng.uniform(-8, 0))}
        )
    return options


def uncovered(error, radius):
    return ~((error <= radius) | (radius == np.inf))  # a NaN error is not covered

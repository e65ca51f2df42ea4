"""Roots of a decision function on lines between rows."""

from typing import Protocol

import numpy as np

_ITERATIONS = 100


class DecisionFunction(Protocol):
    """Interface of a function with a gradient."""

    def value_and_gradient(self, z: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
        """Return f (m) and its gradient (m, d)."""


def roots_between(
    function: DecisionFunction, level: float, first: np.ndarray, second: np.ndarray, tolerance: float
) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Find roots of f - level on lines between two rows, by safeguarded Newton steps.

    first, second: (m, d), with f > level and f < level; other pairs are skipped. Return (points (k, d) with |f - level|
    <= tolerance, gradients (k, d), pair indices (k)).
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

"""Shares of rows, and errors of values, from a sample."""

from math import exp, inf, lgamma, log, log1p, sqrt


def upper_bound(differing: int, rows: int, confidence: float) -> float:
    """Return Clopper and Pearson's upper bound (1934) of a share: statistical, not a proof.

    If `differing` of `rows` random rows differ, the share of all rows that differ is at most this, with this
    confidence: the share of which a sample has so few with probability 1 - confidence, to six digits or more. scipy's
    takes longer to load than most predictions.
    """
    if differing >= rows:
        return 1.0
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if _at_most(differing, rows, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def lower_bound(differing: int, rows: int, confidence: float) -> float:
    """Return Clopper and Pearson's lower bound of a share."""
    return 1 - upper_bound(rows - differing, rows, confidence)


def _at_most(k: int, n: int, p: float) -> float:
    if k > n * p:  # the terms of the other tail decrease from its first
        return 1 - _at_most(n - k - 1, n, 1 - p)
    term = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))
    total = 0.0
    while term > 1e-17 * total:
        total += term
        term *= k * (1 - p) / ((n - k + 1) * p)
        k -= 1
    return total


def rms_interval_95(squares: float, fourths: float, count: int) -> "tuple[float, float]":
    """Return a root mean square's 95 % interval, from the mean square's normal one.

    squares, fourths: sums of powers.
    """
    if not count:
        return 0.0, inf
    mean = squares / count
    half = 1.96 * sqrt(max(0.0, fourths / count - mean * mean) / count)
    return sqrt(max(0.0, mean - half)), sqrt(mean + half)

"""Shares of rows, and errors of values, from a sample."""

from math import inf, sqrt

from fastsvm_cli._native import upper_bound as upper_bound


def lower_bound(differing: int, rows: int, confidence: float) -> float:
    """Return Clopper and Pearson's lower bound of a share."""
    return 1 - upper_bound(rows - differing, rows, confidence)


def rms_interval_95(squares: float, fourths: float, count: int) -> "tuple[float, float]":
    """Return a root mean square's 95 % interval, from the mean square's normal one.

    squares, fourths: sums of second and fourth powers of `count` numbers.
    """
    if not count:
        return 0.0, inf
    mean = squares / count
    half = 1.96 * sqrt(max(0.0, fourths / count - mean * mean) / count)
    return sqrt(max(0.0, mean - half)), sqrt(mean + half)

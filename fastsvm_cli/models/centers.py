"""Centers of expansions."""

from collections.abc import Sequence
from math import floor, inf, log10


class Center:
    """Center of an expansion. point: (d) values at these features; 0 elsewhere. largest_norm: the largest |x_i -
    point|^2 over the support vectors, for eq. (3.11)."""

    def __init__(self, features: "Sequence[int]", point: "Sequence[float]", largest_norm: float):
        self.features, self.point, self.largest_norm = features, point, largest_norm


def center_point(mean: "list[float]", low: "list[float]", high: "list[float]") -> "list[float]":
    """Return `mean` rounded to 1/10,000 of each feature's range or finer, for a short file."""
    out = []
    for value, least, most in zip(mean, low, high):
        spread = most - least
        value = min(max(value, least), most)
        out.append(round(value, 4 - floor(log10(spread))) if 0 < spread < inf else value)
    return out

"""Centers of expansions."""

from math import floor, inf, log10


def center_point(mean: "list[float]", low: "list[float]", high: "list[float]") -> "list[float]":
    """Return `mean` rounded to 1/10,000 of each feature's range or finer, for a short file."""
    out = []
    for value, least, most in zip(mean, low, high):
        spread = most - least
        value = min(max(value, least), most)
        out.append(round(value, 4 - floor(log10(spread))) if 0 < spread < inf else value)
    return out

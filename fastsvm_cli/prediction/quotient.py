"""Division as svm-predict's summary has it."""

from math import copysign, inf, isnan, nan


def quotient(a: float, b: float) -> float:
    """a / b as C divides: 0 / 0 is not a number, 1 / -0 is below all numbers, and neither is an exception."""
    if b == 0:
        return nan if a == 0 or isnan(a) else copysign(inf, a) * copysign(1.0, b)
    return a / b

"""Accuracy, mean squared error, squared correlation: svm-predict's numbers in svm-predict's words."""

from math import copysign, inf, isfinite, isnan, nan

from fastsvm_cli import _native
from fastsvm_cli.text.header import Header


def summary_lines(header: Header, score: _native.Score) -> "list[str]":
    """The lines svm-predict 3.37 prints at its end."""
    if header.regression:
        error, correlation = _regression(score)
        return [
            f"Mean squared error = {_g(error)} (regression)",
            f"Squared correlation coefficient = {_g(correlation)} (regression)",
        ]
    return [
        f"Accuracy = {_g(_ratio(score.correct, score.total) * 100)}% ({score.correct}/{score.total}) (classification)"
    ]


def summary_values(header: Header, score: _native.Score) -> dict:
    """The same for programs: {} without rows, None for what is undefined."""
    if header.regression:
        error, correlation = _regression(score)
        values = {"mean_squared_error": error, "squared_correlation": correlation}
    else:
        values = {"accuracy": _ratio(score.correct, score.total), "correct": score.correct}
    return {key: value if isfinite(value) else None for key, value in values.items()}


def _regression(s: _native.Score) -> "tuple[float, float]":
    n = s.total
    covariance = n * s.sumpt - s.sump * s.sumt
    return _ratio(s.error, n), _ratio(
        covariance * covariance, (n * s.sumpp - s.sump * s.sump) * (n * s.sumtt - s.sumt * s.sumt)
    )


def _ratio(a: float, b: float) -> float:
    """a / b as C divides: 0 / 0 is not a number, and no exception."""
    if b == 0:
        return nan if a == 0 or isnan(a) else copysign(inf, a)
    return a / b


def _g(value: float) -> str:
    # x86-64 gives 0 / 0 a sign, and printf shows it.
    return "-nan" if isnan(value) else _native.format_g(value)

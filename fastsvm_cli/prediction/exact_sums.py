"""Counts and sums of a run that is done in parts: the same in whatever parts. svm-predict adds doubles row by row, and
its sums depend on the order; these are exact, and rounded once, at the end."""

from fractions import Fraction
from math import inf, nan
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli.prediction.answers import Answer
from fastsvm_cli.prediction.pipeline import Tally
from fastsvm_cli.prediction.quotient import quotient

#: What RegressionSums counts in.
_UNIT = 1074
_NAMES = ("error", "sump", "sumt", "sumpp", "sumtt", "sumpt")


class PartTally(Tally):
    """The Tally of a part. regression: the labels are numbers, whose sums are kept exactly."""

    def __init__(self, labelled: bool, regression: bool):
        super().__init__(labelled)
        self._sums = _native.RegressionSums() if labelled and regression else None

    def add(self, answer: Answer) -> None:
        super().add(answer)
        if self._sums is not None:
            self._sums.add(answer.chunk, answer.predictions)

    def values(self) -> "dict[str, Any]":
        """The same as what JSON can hold, for Totals."""
        out: dict[str, Any] = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        if self.score is not None:
            out.update(correct=self.score.correct, total=self.score.total)
        if self._sums is not None:
            numbers = [int.from_bytes(digits, "little", signed=True) for digits in self._sums.digits()]
            out["sums"] = dict(zip(_NAMES, map(_text, numbers)))
            special = {name: repr(value) for name, value in zip(_NAMES, self._sums.special()) if value}
            if special:
                out["not_finite"] = special
        return out


class ExactScore:
    """What svm-predict's summary is made of, over all parts.

    correct, total: rows. sums: error, sump, sumt, sumpp, sumtt and sumpt of a regression, times 2^1074. special: those
    of their terms that are not finite."""

    def __init__(self) -> None:
        self.correct = self.total = 0
        self.sums = dict.fromkeys(_NAMES, 0)
        self.special = dict.fromkeys(_NAMES, 0.0)

    def regression(self) -> "tuple[float, float]":
        """(mean squared error, squared correlation), each rounded once from exact sums; what 0 / 0 and overflow are in
        svm-predict, they are here."""
        n, s = self.total, self.sums
        if n == 0:
            return nan, nan
        if any(self.special.values()):
            error, p, t, pp, tt, pt = (_double(s[name]) + self.special[name] for name in _NAMES)
            covariance = n * pt - p * t
            return error / n, quotient(covariance * covariance, (n * pp - p * p) * (n * tt - t * t))
        one = 1 << _UNIT
        covariance = n * s["sumpt"] * one - s["sump"] * s["sumt"]
        of_p = n * s["sumpp"] * one - s["sump"] * s["sump"]
        of_t = n * s["sumtt"] * one - s["sumt"] * s["sumt"]
        error = _rounded(Fraction(s["error"], n * one))
        if of_p <= 0 or of_t <= 0:  # predictions or labels that are all equal; below 0 where squares underflowed
            return error, nan
        return error, _rounded(Fraction(covariance * covariance, of_p * of_t))


class Totals(Tally):
    """The sum of the tallies of parts, as the Tally of one run."""

    def __init__(self, labelled: bool):
        super().__init__(labelled)
        self.score = ExactScore() if labelled else None

    def add_values(self, values: "dict[str, Any]") -> None:
        """Of a PartTally. Raises KeyError and ValueError for what is none."""
        for name, value in vars(self).items():
            if isinstance(value, int):
                setattr(self, name, value + values[name])
        score = self.score
        if score is None:
            return
        assert isinstance(score, ExactScore)
        score.correct += values["correct"]
        score.total += values["total"]
        for name, text in values.get("sums", {}).items():
            score.sums[name] += _number(text)
        for name, text in values.get("not_finite", {}).items():
            score.special[name] += float(text)


def _text(number: int) -> str:
    """A large number with few digits that are not zero: `<hexadecimal digits>p<power of 2>`."""
    zeros = (number & -number).bit_length() - 1 if number else 0
    return f"{number >> zeros:x}p{zeros}"


def _number(text: str) -> int:
    digits, _, power = text.partition("p")
    return int(digits, 16) << int(power)


def _double(number: int) -> float:
    return _rounded(Fraction(number, 1 << _UNIT))


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf

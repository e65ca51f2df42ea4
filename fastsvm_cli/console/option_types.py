"""Types of option values."""

from collections.abc import Callable
from math import inf, isfinite, isnan
from typing import Any

import click


class _Range(click.ParamType):
    """Range whose errors name what was found and expected."""

    kind: str
    min: Any
    max: Any
    min_open: bool

    def convert(self, value: Any, parameter: "click.Parameter | None", context: "click.Context | None") -> Any:
        try:
            return super().convert(value, parameter, context)
        except click.BadParameter:
            self.fail(f"{value!r} found, expected {self._expected()}.", parameter, context)

    def _expected(self) -> str:
        if self.max is not None:
            between = f"above {self.min:g}, up to" if self.min_open else f"from {self.min:g} to"
            return f"a {self.kind} {between} {self.max:g}"
        return f"a {self.kind} above {self.min:g}" if self.min_open else f"a {self.kind} of {self.min:g} or more"


class Integer(_Range, click.IntRange):
    """Whole number in a range, whose ends belong to it."""

    kind = "whole number"


class Number(_Range, click.FloatRange):
    """Number of at least or, with min_open, above `least`; at most `most`. endless: infinity is allowed."""

    kind = "number"

    def __init__(
        self, least: float, most: "float | None" = None, *, min_open: bool = False, endless: bool = False
    ) -> None:
        super().__init__(least, most, min_open)
        self._endless = endless

    def convert(self, value: Any, parameter: "click.Parameter | None", context: "click.Context | None") -> float:
        """Return the number, or fail."""
        number = float(super().convert(value, parameter, context))
        if isnan(number) or not (self._endless or isfinite(number)):
            self.fail(f"'{value}' found, expected a finite number.", parameter, context)
        return number


#: A number above 0.
POSITIVE = Number(0, min_open=True)
#: A limit above 0; inf for none.
LIMIT = Number(0, min_open=True, endless=True)


class Count(Integer):
    """Count, capped at the core's largest."""

    _MOST = 2**31 - 1

    def convert(self, value: Any, parameter: "click.Parameter | None", context: "click.Context | None") -> int:
        """Return the number, or the core's largest, 2^31 - 1."""
        return min(int(super().convert(value, parameter, context)), self._MOST)


class ZeroOrOne(click.IntRange):
    """0 or 1, as svm-predict's ``-b``."""

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, parameter: "click.Parameter | None", context: "click.Context | None") -> int:
        """Return 0 or 1, or fail, with a hint if the value is a file."""
        from os.path import exists

        if value not in (0, 1, "0", "1"):
            option = min(parameter.opts, key=len) if parameter is not None else ""
            where = f" in front of the file: {option} 1 {value}" if exists(value) else "."
            self.fail(f"'{value}' found, expected 0 or 1{where}", parameter, context)
        return int(value)


class Share(click.ParamType):
    """Share, as 0.005 or 0.5%. expected: its name in messages; holds: whether a number is one."""

    def __init__(
        self,
        expected: str = "a share, as 0.005 or 0.5%",
        holds: "Callable[[float], bool]" = lambda share: 0 <= share <= 1,
        name: str = "share",
    ) -> None:
        self.name, self._expected, self._holds = name, expected, holds

    def convert(
        self, value: "str | float", parameter: "click.Parameter | None", context: "click.Context | None"
    ) -> float:
        """Return the share, or fail."""
        share = number(value)
        if not self._holds(share):
            self.fail(f"'{value}' found, expected {self._expected}.", parameter, context)
        return share


FRACTION = Share("a share above 0 and below 1, as 0.005 or 0.5%", lambda share: 0 < share < 1)
RATIO = Share("a share above 0, up to 1, as 0.05 or 5%", lambda share: 0 < share <= 1)
#: Of --target: a share, except for regression.
TARGET = Share("a number above 0, as 0.005 or 0.5%", lambda share: 0 < share < inf, "target")


class Bandwidth(click.ParamType):
    """The word ``adaptive``, or a bandwidth."""

    name = "bandwidth"

    def convert(
        self, value: str, parameter: "click.Parameter | None", context: "click.Context | None"
    ) -> "str | float":
        """Return the word or the number, or fail."""
        if value == "adaptive":
            return value
        try:
            width = float(value)
        except ValueError:
            width = 0.0
        if not 1e-100 <= width <= 1e100:
            self.fail(f"'{value}' is neither 'adaptive' nor a number from 1e-100 to 1e100.", parameter, context)
        return width


def number(value: "str | float") -> float:
    """Return a share; nan for other words."""
    if not isinstance(value, str):
        return float(value)
    try:
        return float(value[:-1]) / 100 if value.endswith("%") else float(value)
    except ValueError:
        return float("nan")


def one_character(context: click.Context, parameter: click.Parameter, value: str) -> str:
    r"""Convert \t, tab, space or a character to a delimiter."""
    from fastsvm_cli._native import may_delimit

    value = {"\\t": "\t", "tab": "\t", "space": " "}.get(value, value)
    if not may_delimit(value):
        raise click.BadParameter("expected one character that cannot be part of a number (or \\t)")
    return value

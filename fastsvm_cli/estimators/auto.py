"""Rows and attempts of ``compile(..., "auto")``, the choice among all methods."""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.models import Model
from fastsvm_cli.text import digits, percent

if TYPE_CHECKING:
    from fastsvm_cli.benchmarks.chooser import Choice, Entrant


class ArrayRows:
    """Rows of X, as every model gets them from `FastSVM.predict`.

    fast_of: makes a FastSVM of a model, and whether undecided rows are the exact model's. chunks: turns rows into the
    core's chunks.
    """

    reading = 0.0  # part of every prediction

    def __init__(
        self, X: Any, fast_of: "Callable[[Model, bool], FastSVM]", chunks: "Callable[[Any], list[_native.Chunk]]"
    ):
        self._X, self._fast_of, self._chunks = X.tocsr() if hasattr(X, "tocsr") else X, fast_of, chunks
        self.count = X.shape[0] if hasattr(X, "shape") else len(X)
        self._last: tuple[Model, bool, FastSVM] | None = None

    def sample(self, numbers: "list[int]") -> "ArrayRows":
        """Return these rows."""
        return ArrayRows(self._some(numbers), self._fast_of, self._chunks)

    def chunk(self) -> _native.Chunk:
        """Return all rows."""
        return _native.Chunk.concatenate(self._chunks(self._X))

    def answers(self, model: Model, exact: bool, numbers: "list[int] | None" = None) -> np.ndarray:
        """Return labels, or the values of a regression."""
        return np.asarray(self._fast(model, exact).predict(self._X if numbers is None else self._some(numbers)))

    def predict(self, model: Model, exact: bool) -> None:
        """Predict all rows."""
        self._fast(model, exact).predict(self._X)

    def proven(self, model: Model) -> int:
        """Count the proven rows."""
        return 0 if model.header.regression else int(np.sum(self._fast(model, False).proven(self._X)))

    def _fast(self, model: Model, exact: bool) -> FastSVM:
        if self._last is None or self._last[0] is not model or self._last[1] != exact:
            self._last = model, exact, self._fast_of(model, exact)
        return self._last[2]

    def _some(self, numbers: "list[int]") -> Any:
        if hasattr(self._X, "iloc"):
            return self._X.iloc[numbers]
        return self._X[numbers] if hasattr(self._X, "shape") else [self._X[at] for at in numbers]


_HEADS = ("model", "times exact", "differ", "at most", "class", "compile", "")


class Attempts(Sequence):
    """Attempts of ``compile(..., "auto")``, the fastest first, as a sequence of dictionaries.

    Printed, it is a table. A dictionary has `name`, as the arguments of `compile`; `times_exact`, times the exact
    model's speed, or None; `share` of labels that change (regression: the root mean square difference over the standard
    deviation), `upper`, its bound with 90 % confidence, and `class_share`, the largest of a class; `within`, whether
    that is within the budget; `compile_seconds`, of processor time; and `why` it was not taken, or None.

    Attributes
    ----------
    reason : str
        Why the model was taken, in a sentence.
    not_tried : list of str
        The attempts for which `time_limit` left no time.
    """

    def __init__(self, choice: "Choice"):
        from fastsvm_cli.benchmarks import choice_report

        entrants = choice_report.ordered(choice)
        entrants += [each for each in choice.entrants if each.failed]
        self._rows = [_row(choice, each) for each in entrants]
        self.reason: str = choice_report.reason(choice, _name(choice.picked))
        self.not_tried = [_name_of(each.command, each.options) for each in choice.waiting]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        return self._rows[at]

    def __repr__(self) -> str:
        lines = [_HEADS, *map(_cells, self._rows)]
        widths = [max(len(line[at]) for line in lines) for at in range(len(_HEADS))]
        table = [
            "  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:-1], widths[1:-1]))])
            + (f"  {line[-1]}" if line[-1] else "")
            for line in lines
        ]
        missing = [f"Not tried, for lack of time (time_limit): {', '.join(self.not_tried)}"] if self.not_tried else []
        return "\n".join([self.reason, *missing, *table])

    @staticmethod
    def recipe(entrant: "Entrant") -> "dict[str, Any]":
        """Return the arguments of `compile` that make the model."""
        if entrant.attempt is None:
            return {"method": "exact"}
        given = {"method": entrant.attempt.command, **entrant.attempt.options}
        return {**given, "exact": True} if entrant.exact else given


def _name(entrant: "Entrant") -> str:
    recipe = Attempts.recipe(entrant)
    return _name_of(recipe.pop("method"), recipe)


def _name_of(command: str, options: "dict[str, Any]") -> str:
    options = dict(options)
    return ", ".join([options.pop("method", command), *(f"{name}={value!r}" for name, value in options.items())])


def _row(choice: "Choice", entrant: "Entrant") -> "dict[str, Any]":
    gain, changed = choice.gain(entrant), entrant.changed or entrant.sample
    known = isfinite(entrant.share)
    return {
        "name": _name(entrant),
        "times_exact": None if gain is None else gain[0],
        "share": entrant.share if known else None,
        "upper": entrant.upper if isfinite(entrant.upper) else None,
        "class_share": None if changed is None else changed.largest_share,
        "within": entrant.within,
        "compile_seconds": entrant.compile_seconds,
        "why": entrant.why,
    }


def _cells(row: "dict[str, Any]") -> "tuple[str, ...]":
    shares = ("" if row[key] is None else percent(row[key]) for key in ("share", "upper", "class_share"))
    speed = "" if row["times_exact"] is None else digits(row["times_exact"], 3)
    seconds = "" if row["compile_seconds"] is None else f"{row['compile_seconds']:.2g} s"
    return (row["name"], speed, *shares, seconds, row["why"] or "")

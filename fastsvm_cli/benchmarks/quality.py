"""Answers of a model compared with the exact model's: of arrays, and for bench."""

from math import isfinite, nan, sqrt

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.comparisons import Changed, answers, changed_labels, interval_95, rms_interval_95, share_of_spread
from fastsvm_cli.models import LABELS, ExactModel, Model, Precision
from fastsvm_cli.text.read_rows import smaller_chunks

#: Decision values cached in memory (128 MB); others are evaluated again per model.
STORED_VALUES = 1 << 24
# Regression values this close, over their spread, differ by rounding.
_ROUNDING = 1e-9


class Agreement:
    """Comparison of a model's answers with those of a reference, by `FastSVM.agreement`.

    Attributes
    ----------
    rows : int
        Number of rows.
    regression : bool
        Whether the answers are values, not labels.
    different : int
        Number of rows whose label differs; for regression, whose value differs.
    share : float
        `different` / `rows`. For regression, `difference` divided by `deviation`, or by a millionth of the reference's
        first value if that is larger.
    interval : tuple of float or None
        The 95 % Wilson interval of `share`, as (low, high). None for regression.
    changed : Changed or None
        The labels that differ, by class of the reference: `changed.classes` has `label`, `rows`, `different` and
        `share` of each. None for regression.
    proven : int or None
        Number of rows with a proven label. None if nothing can be proven, and for regression.
    difference : float or None
        For regression: the root mean square difference, in the unit of the values.
    largest : float or None
        For regression: the largest difference, in the unit of the values.
    largest_share : float or None
        For regression: `largest`, relative to the same number as `share`.
    deviation : float or None
        For regression: the standard deviation of the reference's values.
    """

    def __init__(self, answers: np.ndarray, reference: np.ndarray, regression: bool, proven: "int | None"):
        self.rows, self.proven, self.regression = len(answers), proven, regression
        self.different = int(np.sum(answers != reference))
        self.changed = None if regression else Changed(reference, answers != reference)
        self.difference: float | None = None
        self.largest: float | None = None
        self.largest_share: float | None = None
        self.deviation: float | None = None
        self.interval: tuple[float, float] | None = None
        if regression:
            apart = abs(answers - reference)
            self.difference = float(np.sqrt(np.mean(apart**2))) if self.rows else 0.0
            self.largest = float(np.max(apart, initial=0.0))
            self.deviation, size = (float(np.std(reference)), abs(float(reference[0]))) if self.rows else (0.0, 0.0)
            self.share = share_of_spread(self.difference, self.deviation, size)
            self.largest_share = share_of_spread(self.largest, self.deviation, size)
        else:
            self.share = self.different / self.rows if self.rows else 0.0
            self.interval = interval_95(self.different, self.rows)

    def __repr__(self) -> str:
        known = "" if self.proven is None else f", {self.proven} proven"
        if self.interval is None or self.changed is None:
            return (
                f"<Agreement: values of {self.rows} rows differ by at most {self.largest:.3g},"
                f" {self.largest_share:.3g} standard deviations (root mean square: {self.difference:.3g},"
                f" {self.share:.3g}){known}>"
            )
        low, high = (100 * each for each in self.interval)
        worst = self.changed.worst
        of_class = ""
        if worst is not None and len(self.changed.classes) > 1:
            of_class = f"; most in class {worst.label}: {worst.different} of {worst.rows}"
        return (
            f"<Agreement: {self.different} of {self.rows} labels differ, {100 * self.share:.3g} %"
            f" (95 %: {low:.2g} to {high:.2g} %){of_class}{known}>"
        )


class Quality:
    """Comparison of a model's answers with the exact model's."""

    def __init__(self) -> None:
        self.rows = 0
        self.changed: Changed | None = None
        self.largest = self.mean = self.squares = self.fourths = 0.0  # of |f - f_exact|; nan: unknown
        self.proven: int | None = None  # rows; None without radii
        self.score = _native.Score()  # for svm-predict's summary

    @property
    def rms(self) -> float:
        """Root mean square difference, of a model with one decision function."""
        return sqrt(self.squares / self.rows) if self.rows else 0.0


def relative_rms(found: "Quality", spread: float) -> "tuple[float, tuple[float, float]]":
    """Return the root mean square difference over `spread`, and its 95 % interval.

    spread: the exact values' standard deviation. Below 1e-9 the result comes from rounding, and becomes 0.
    """
    value, *interval = (
        share_of_spread(each, spread, 0.0)
        for each in (found.rms, *rms_interval_95(found.squares, found.fourths, found.rows))
    )
    return (0.0, (0.0, 0.0)) if value < _ROUNDING else (value, (interval[0], interval[1]))


class Answers:
    """The exact model's answers to a benchmark's rows. labels: (rows) per chunk; regression: values."""

    def __init__(self, model: ExactModel, chunks: "list[_native.Chunk]"):
        self.model, self.chunks = model, list(smaller_chunks(chunks, model.pairs))
        self.labels: list[np.ndarray] = []
        self.score = _native.Score()
        self._values: list[np.ndarray | None] = []
        stored = 0
        for chunk, decisions, predictions in answers(model, self.chunks, Precision.values()):
            stored += chunk.rows * model.pairs
            self._values.append(np.array(decisions.value) if stored <= STORED_VALUES else None)
            self.labels.append(np.array(predictions.label))
            self.score.add(chunk, predictions)

    @property
    def every_label(self) -> np.ndarray:
        """Labels, or values of a regression, of all rows."""
        return np.concatenate(self.labels)

    @property
    def spread(self) -> float:
        """Standard deviation of regression values, at least a millionth of the first one."""
        with np.errstate(all="ignore"):
            return max(float(self.every_label.std()), 1e-6 * abs(float(self.every_label[0])))

    def changed(self, differ: "np.ndarray | list[bool]") -> "Changed | None":
        """Return the labels that differ, in all and by class; None for regression. differ: (rows)."""
        return changed_labels(self.model.header, self.every_label, np.asarray(differ, bool))

    def values(self, at: int) -> np.ndarray:
        """Return decision values (rows, pairs) of chunk `at`."""
        stored = self._values[at]
        if stored is None:
            return np.array(next(answers(self.model, [self.chunks[at]], Precision.values()))[1].value)
        return stored


def quality(model: Model, exact: Answers, chunks: "list[_native.Chunk] | None" = None) -> Quality:
    """Compare a model with the exact one. chunks: rows in the model's own form.

    Classes must be the same. In another order, and of a cascade, whose values are the exact model's, only labels are
    compared.
    """
    mine, theirs = model.header, exact.model.header
    one, other = (
        (sorted(each.label or []), each.pairs, each.regression, each.svm_type == "one_class") for each in (mine, theirs)
    )
    if one != other:
        raise ValueError("other classes than the exact model's")
    by_labels = model.kind == "cascade"
    comparable = mine.label == theirs.label and not by_labels
    out, total, count = Quality(), 0.0, 0
    differ: list[np.ndarray] = []
    radii = model.certified
    out.proven = 0 if radii else None
    for at, (chunk, decisions, predictions) in enumerate(
        answers(model, exact.chunks if chunks is None else chunks, LABELS if by_labels else Precision.values(), radii)
    ):
        out.rows += chunk.rows
        differ.append(np.asarray(predictions.label) != exact.labels[at])
        difference = np.zeros(0) if by_labels else np.abs(np.asarray(decisions.value) - exact.values(at))
        if difference.size and comparable:
            out.largest = max(out.largest, float(difference.max()))
            total += float(difference.sum())
            count += difference.size
            with np.errstate(over="ignore", under="ignore"):
                squares = difference * difference
                out.squares += float(squares.sum())
                out.fourths += float((squares * squares).sum())
        if radii:
            out.proven += chunk.rows - len(_native.undecided_rows(mine.task(), decisions))
        out.score.add(chunk, predictions)
    out.changed = exact.changed(np.concatenate(differ)) if differ else None
    out.mean = total / count if count else 0.0
    if not isfinite(out.largest) or not comparable:
        out.largest = out.mean = out.squares = out.fourths = nan
    return out

"""Comparison of a model's labels with the exact model's."""

from typing import Any

import numpy as np

from fastsvm_cli.comparisons import Changed, interval_95, share_of_spread


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
        of_class = (
            f"; most in class {worst.label}: {worst.different} of {worst.rows}"
            if worst is not None and len(self.changed.classes) > 1
            else ""
        )
        return (
            f"<Agreement: {self.different} of {self.rows} labels differ, {100 * self.share:.3g} %"
            f" (95 %: {low:.2g} to {high:.2g} %){of_class}{known}>"
        )


def agreement(fast: Any, X: Any, estimator: Any = None) -> Agreement:
    """Compare a FastSVM's answers with those of `estimator`, as `FastSVM.agreement`.

    >>> from sklearn.svm import SVC
    >>> svc = SVC(gamma=0.1).fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> fastsvm_cli.compile(svc, "approx", degree=3).agreement([[0.1, 0.2], [0.9, 0.3]])
    <Agreement: 0 of 2 labels differ, 0 % (95 %: 0 to 66 %)>
    """
    reference = estimator if estimator is not None else fast._reference
    if reference is None and fast.model.proves:
        reference = fast
    if reference is None:
        why = "what it was compiled from is not known here (it is not pickled along): agreement(X, estimator) says it"
        raise ValueError(why)
    own, other = np.asarray(fast.predict(X)), np.asarray(reference.predict(X))
    header = fast.model.header
    proven = int(np.sum(fast.proven(X))) if hasattr(fast, "proven") and not header.regression else None
    return Agreement(own, other, header.regression, proven)

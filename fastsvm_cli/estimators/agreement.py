"""How many labels a compiled model changes, on arrays."""

from typing import Any

import numpy as np

from fastsvm_cli.benchmarks.quality import interval_95
from fastsvm_cli.comparisons.agreement import share_of_spread

_DRAWN = 5000  # points of a picture


class Agreement:
    """rows; different: rows whose label differs from the reference's; share: of the rows; interval: (low, high), the
    95 % interval of the share on rows like these (Wilson); proven: rows whose label is proven to be the exact model's,
    None where nothing can be proven.

    Of regression values: different counts those that are not equal; difference is the root mean square of theirs, share
    is that over the standard deviation of the reference's values (over a millionth of their size where they hardly have
    one), and there is no interval (None).
    """

    def __init__(self, answers: np.ndarray, reference: np.ndarray, regression: bool, proven: "int | None"):
        self.rows, self.proven, self.regression = len(answers), proven, regression
        self.different = int(np.sum(answers != reference))
        self.difference: float | None = None
        self.interval: tuple[float, float] | None = None
        if regression:
            self.difference = float(np.sqrt(np.mean((answers - reference) ** 2))) if self.rows else 0.0
            spread, size = (float(np.std(reference)), abs(float(reference[0]))) if self.rows else (0.0, 0.0)
            self.share = share_of_spread(self.difference, spread, size)
        else:
            self.share = self.different / self.rows if self.rows else 0.0
            self.interval = interval_95(self.different, self.rows)
        self._values: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def __repr__(self) -> str:
        known = "" if self.proven is None else f", {self.proven} proven"
        if self.interval is None:
            return f"<Agreement: {100 * self.share:.3g} % of the spread of the values, {self.rows} rows{known}>"
        low, high = (100 * each for each in self.interval)
        return (
            f"<Agreement: {self.different} of {self.rows} labels differ, {100 * self.share:.3g} %"
            f" (95 %: {low:.2g} to {high:.2g} %){known}>"
        )

    def plot(self, axis: Any = None) -> Any:
        """The decision values' change against the reference's decision values, on a matplotlib axis (a new one without
        it), which is returned. In the grey part a change turns the sign. Needs matplotlib. At most 5,000 rows."""
        from matplotlib import pyplot

        if self._values is None:
            raise ValueError("no decision values are known: give an estimator that has decision_function, or none")
        exact, fast, differ = self._values
        axis = pyplot.subplots()[1] if axis is None else axis
        edge = float(np.max(np.abs(exact), initial=0.0)) or 1.0
        if not self.regression:
            axis.fill_between([-edge, 0, edge], [edge, 0, -edge], [2 * edge, edge, 0], color="0.93", linewidth=0)
            axis.fill_between([-edge, 0, edge], [0, -edge, -2 * edge], [edge, 0, -edge], color="0.93", linewidth=0)
        axis.plot(exact[~differ], (fast - exact)[~differ], ".", color="tab:blue", markersize=3, label="same label")
        axis.plot(exact[differ], (fast - exact)[differ], ".", color="tab:red", markersize=5, label="other label")
        most = float(np.max(np.abs(fast - exact), initial=0.0)) or 1.0
        axis.set(
            xlabel="value of the exact model",
            ylabel="change",
            ylim=(-1.1 * most, 1.1 * most),
            title=repr(self).strip("<>").removeprefix("Agreement: "),
        )
        axis.legend(loc="best", fontsize=8)
        return axis


def agreement(fast: Any, X: Any, estimator: Any = None) -> Agreement:
    """Compare a FastSVM with the estimator that it was compiled from, row by row.

    X: rows, as for predict. estimator: what to compare with, anything with predict; None: the exact model, whose labels
    are LIBSVM's, where the FastSVM still knows it: not when it was pickled in between. Raises ValueError where it does
    not.

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
    out = Agreement(own, other, header.regression, proven)
    exact, fast_values = _values(reference, X, header.regression), _values(fast, X, header.regression)
    if exact is not None and fast_values is not None and exact.shape == fast_values.shape:
        differ = own != other
        if header.regression:
            differ = np.zeros(len(own), bool)
        if exact.ndim == 2:
            differ = np.repeat(differ, exact.shape[1])
        kept = np.linspace(0, exact.size - 1, min(exact.size, _DRAWN)).astype(int)
        out._values = exact.ravel()[kept], fast_values.ravel()[kept], differ[kept]
    return out


def _values(estimator: Any, X: Any, regression: bool) -> "np.ndarray | None":
    if regression:
        return np.asarray(estimator.predict(X))
    return np.asarray(estimator.decision_function(X)) if hasattr(estimator, "decision_function") else None

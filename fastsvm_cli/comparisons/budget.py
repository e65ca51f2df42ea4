"""Labels that differ, by class: bounds of their shares, the rule of a budget, and the guarantee of a cascade.

The guarantee: with confidence 1 - delta, at most a share `budget` of rows drawn like the tested ones get another label
than the exact model's. The delta is of all calibrations, those included that end without a cascade: of the cascades
alone, more may break the budget.

Let p(t) be the probability that the cascade with threshold t changes a row's label. The thresholds t_1 > t_2 > ... and
the stages are fixed before the tested rows are looked at. Among n such rows, drawn independently, k(t) labels differ.

(1) Clopper and Pearson (1934): P(p(t) > u(k(t), n)) <= delta, with u(k, n) the (1 - delta) quantile of the beta
    distribution with parameters k + 1 and n - k, and u(n, n) = 1.
(2) Fixed sequence (Angelopoulos, Bates, Candes, Jordan and Lei, "Learn then Test", 2021, section 3.2): thresholds are
    tested in their order, up to the first with u(k(t), n) > budget; the last one before it is taken. Let t_j be the
    first with p(t_j) > budget. A threshold with p > budget is taken only if t_j passes, u(k(t_j), n) <= budget <
    p(t_j), which has probability at most delta by (1), whatever the number of thresholds.
(3) Each class: p_c(t), k_c(t) and n_c are of the rows that the exact model gives class c, which are drawn independently
    like the class's, given n_c. A threshold passes if u(k_c(t), n_c) <= budget for every c. Let t_j be the first with
    p_c(t_j) > budget for any c. It passes only if that class does, with probability at most delta by (1): an
    intersection-union test (Berger 1982) needs no correction for the number of classes. All rows keep the budget, too:
    their share is a mean of the classes'.

u(k(t), n) at the taken t is no bound with this confidence, as the same counts have chosen t. The guarantee does not
hold for rows of another kind, or for a single row.
"""

from collections.abc import Iterable, Sequence
from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

from fastsvm_cli._native import upper_bound as upper_bound

if TYPE_CHECKING:
    import numpy as np

    from fastsvm_cli._native import Header

#: Share of labels that may differ, where no budget is given (regression: of the standard deviation).
DEFAULT_BUDGET = 0.005
#: Confidence of a bound. With 95 %, picks on other rows went over the budget as often, and were slower
#: (scripts/README.md, "Picks of bench").
CONFIDENCE = 0.9
#: A class rules a model out if its share is above so many times the budget, with CONFIDENCE for all classes together.
CLASS_TIMES = 4
#: Confidence with which a model is dropped by a sample of the rows.
_SURELY = 0.999


class ClassRows(NamedTuple):
    """Numbers of rows that the exact model gives the class `label`, and of those labelled differently."""

    label: object
    rows: int
    different: int

    @property
    def share(self) -> float:
        """Share of the class's rows whose label differs."""
        return self.different / self.rows if self.rows else 0.0


class Changed:
    """The labels that differ from the exact model's, by class of the exact model.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        The labels of the exact model.
    differ : ndarray of bool of shape (n_samples,)
        Whether the other model gives another label.
    known : iterable, default=()
        Classes to list even if they have no rows.

    Attributes
    ----------
    rows, different : int
        Number of rows, and of those whose label differs.
    classes : list of ClassRows
        The classes, by increasing label.
    """

    def __init__(self, labels: "np.ndarray", differ: "np.ndarray", known: "Iterable[object]" = ()):
        import numpy as np

        self.rows, self.different = len(labels), int(np.sum(differ))
        found, which = np.unique(labels, return_inverse=True)
        rows = np.bincount(which, minlength=len(found))
        different = np.bincount(which, weights=differ, minlength=len(found))
        own = {label: ClassRows(label, int(n), int(m)) for label, n, m in zip(found.tolist(), rows, different)}
        own.update((label, ClassRows(label, 0, 0)) for label in known if label not in own)
        #: By increasing label.
        self.classes = [own[label] for label in sorted(own)]

    @property
    def share(self) -> float:
        """Share of all rows whose label differs."""
        return self.different / self.rows if self.rows else 0.0

    @property
    def worst(self) -> "ClassRows | None":
        """Class with the largest share; None if no label differs."""
        return max(self.classes, key=lambda each: (each.share, each.rows)) if self.different else None

    @property
    def largest_share(self) -> float:
        """Largest share of any class."""
        return self.worst.share if self.worst is not None else 0.0

    def within(self, limit: float) -> bool:
        """Return whether no class's share exceeds `limit`."""
        return self.largest_share <= limit  # overall is a mean of the classes'

    def too_small(self, limit: float) -> "list[ClassRows]":
        """Return the classes in which one changed row exceeds `limit`: those with fewer than 1 / `limit` rows."""
        return [each for each in self.classes if limit > 0 and each.rows * limit < 1]


def changed_labels(header: "Header", labels: "np.ndarray", differ: "np.ndarray") -> "Changed | None":
    """Return the labels, (rows), that differ from the exact model's with this header; None for regression."""
    if header.regression:
        return None
    known = (-1.0, 1.0) if header.svm_type == "one_class" else map(float, header.label or ())
    return Changed(labels, differ, known)


class Budget:
    """Largest share of labels that a model may change. each_class: whether this holds per class.

    The share of all labels counts: Clopper and Pearson's upper bound (1934), of the rows compared, must be within the
    budget, or no label may differ if the rows are too few to show it. The bound is of one model: the fastest of several
    may have passed by chance. A class rules a model out only if the rows show that its share is above CLASS_TIMES the
    budget (Clopper and Pearson's lower bound, with Bonferroni's inequality).
    """

    def __init__(self, share: float, each_class: bool = False):
        self.share, self.each_class = share, each_class

    def permits(self, changed: "Changed") -> bool:
        """Return whether a model that changes these labels is within the budget."""
        return self._shown(changed.different, changed.rows) and self.class_over(changed) is None

    def class_over(self, changed: "Changed") -> "ClassRows | None":
        """Return the class of largest share among those that rule the model out, or None."""
        classes = [each for each in changed.classes if each.different]
        confidence = 1 - (1 - CONFIDENCE) / max(1, len(changed.classes))
        over = [
            each
            for each in classes
            if (
                not self._shown(each.different, each.rows)
                if self.each_class
                else lower_bound(each.different, each.rows, confidence) > CLASS_TIMES * self.share
            )
        ]
        return max(over, key=lambda each: each.share, default=None)

    def surely_exceeded(self, changed: "Changed") -> bool:
        """Return whether so many of a sample's labels differ that all rows can hardly be within the budget."""
        return changed.different > 0 and lower_bound(changed.different, changed.rows, _SURELY) > self.share

    def _shown(self, different: int, rows: int) -> bool:
        return not different or bound(different, rows) <= self.share


def bound(different: int, rows: int) -> float:
    """Return the share that, with CONFIDENCE, the labels that differ do not exceed."""
    return upper_bound(different, rows, CONFIDENCE) if rows else 1.0


def lower_bound(differing: int, rows: int, confidence: float) -> float:
    """Return Clopper and Pearson's lower bound of a share."""
    return 1 - upper_bound(rows - differing, rows, confidence)


def rms_interval_95(squares: float, fourths: float, count: int) -> "tuple[float, float]":
    """Return a root mean square's 95 % interval, from the mean square's normal one.

    squares, fourths: sums of second and fourth powers of `count` numbers.
    """
    if not count:
        return 0.0, inf
    mean = squares / count
    half = 1.96 * sqrt(max(0.0, fourths / count - mean * mean) / count)
    return sqrt(max(0.0, mean - half)), sqrt(mean + half)


def rows_needed(budget: float, confidence: float, differing: int = 0) -> int:
    """Return the fewest rows that show the budget, 0 < budget < 1, if `differing` differ."""
    if not 0 < budget < 1:
        raise ValueError("expected a budget between 0 and 1")
    low, high = differing, differing + 1
    while upper_bound(differing, high, confidence) > budget and high < 1 << 1000:  # float has no more
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if upper_bound(differing, middle, confidence) > budget else (low, middle)
    return high


def most_differing(rows: int, budget: float, confidence: float) -> int:
    """Return how many of `rows` rows may differ, to show the budget; -1 for none."""
    low, high = -1, rows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if upper_bound(middle, rows, confidence) > budget else (middle, high)
    return low


def last_within(
    differing: "Iterable[Sequence[int]]", rows: "Sequence[int]", budget: float, confidence: float
) -> "int | None":
    """Return the position of the threshold that (2) or (3) takes; None if the first fails.

    differing: by threshold, strict ones first, rows that differ: of all, or of each class. rows: all, or of each class.
    """
    taken = None
    for at, counts in enumerate(differing):
        if any(upper_bound(count, n, confidence) > budget for count, n in zip(counts, rows)):
            break
        taken = at
    return taken
